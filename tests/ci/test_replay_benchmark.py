"""The benchmark measures what it says; that its bounds hold is its own exit status."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "ci"))

import replay_benchmark

from ddtree_doctor.replay.record import Behaviour

SEEN = Behaviour(
    host="gpu", algorithm="DDTREE", role="target_verify", backend="triton", dtype="float32", page_size=1, width=33
)

HOST = replace(replay_benchmark.read_host(None), gpus=())
"""This machine without its GPUs."""


def run(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["replay_benchmark.py", *words])
    return replay_benchmark.main()


def test_a_run_prints_best_and_median_of_each_tier(monkeypatch, capsys):
    monkeypatch.setattr(replay_benchmark, "read_host", lambda _: HOST)
    assert run(monkeypatch, "--runs", "2", "--tier", "static") == 0
    assert "static: " in (printed := capsys.readouterr().out)
    assert "median of 2" in printed


def test_a_figure_over_its_bound_is_exit_status_one(monkeypatch):
    monkeypatch.setattr(replay_benchmark, "read_host", lambda _: HOST)
    monkeypatch.setattr(replay_benchmark, "BOUNDS", {"static": 0.0})
    assert run(monkeypatch, "--runs", "1", "--tier", "static") == 1


def test_a_launch_that_is_not_ready_is_no_figure(monkeypatch):
    monkeypatch.setattr(replay_benchmark, "LAUNCH", "no-such-launch.sh")
    with pytest.raises(subprocess.CalledProcessError):
        run(monkeypatch, "--runs", "1", "--tier", "static")


@pytest.mark.parametrize(
    ("looking", "within"), [("1.000", True), ("1.290", True), ("1.310", False)], ids=["free", "below", "above"]
)
def test_the_cost_of_guard_bands_is_held_against_its_bound(looking, within, monkeypatch):
    note = f"suite with guard bands {looking} s, without looks 1.000 s (best of 3)"
    monkeypatch.setattr(replay_benchmark, "behave_gpu", lambda *_, **__: (replace(SEEN, notes=(note,)),))
    assert replay_benchmark.guarded() is within


def test_a_cost_that_was_not_measured_is_not_within_any_bound(monkeypatch, capsys):
    monkeypatch.setattr(replay_benchmark, "behave_gpu", lambda *_, **__: (replace(SEEN, unknown="GPU too busy"),))
    assert not replay_benchmark.guarded()
    assert "GPU too busy" in capsys.readouterr().out
