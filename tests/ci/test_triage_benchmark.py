"""The benchmark measures what it says; that speed and memory hold is its own exit status."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "ci"))

import triage_benchmark


def test_the_log_is_as_large_as_asked_and_ends_in_a_crash(tmp_path):
    triage_benchmark.make(tmp_path / "log", 5)

    text = (tmp_path / "log").read_text()
    assert 5e6 <= len(text) < 5e6 + 2 * triage_benchmark.CHUNK
    assert text.startswith("[2026-05-11 11:59:00] server_args=")
    assert text.endswith(triage_benchmark.CRASH)


def test_a_small_run_prints_speed_memory_and_the_ratio(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["triage_benchmark.py", "--megabytes", "5", "--keep", str(tmp_path / "log")])
    monkeypatch.setattr(triage_benchmark, "SPEED_MIN", 1.0)

    assert triage_benchmark.main() == 0
    printed = capsys.readouterr().out
    for part in ("MB/s of one core", "peak memory", "grep -c -F -f literals", "times the processor time of grep"):
        assert part in printed


def test_memory_stays_below_the_bound_and_does_not_grow_with_the_log(tmp_path):
    peaks = []
    for megabytes in (5, 60):
        triage_benchmark.make(tmp_path / "log", megabytes)
        command = [sys.executable, "-m", "ddtree_doctor", "triage", str(tmp_path / "log")]
        _, _, peak, status = triage_benchmark.measured(command)
        peaks.append(peak)
        assert status == 1

    assert peaks[1] < triage_benchmark.MEMORY_MAX
    assert peaks[1] < peaks[0] + 15
