"""`doctor triage`: exit statuses, outputs, and one message for each bad input."""

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile

import pytest

from tests.triage.logs import ARGS, LOGS, SIZES, traceback

CRASH = "\n".join([ARGS, *traceback(SIZES)]) + "\n"


@pytest.fixture
def crash(tmp_path):
    path = tmp_path / "crash.log"
    path.write_text(CRASH)
    return path


def test_a_fault_exits_1_and_names_the_class(doctor, crash):
    assert doctor("triage", crash) == 1
    assert "shape-width-mismatch · confidence high" in doctor.out


def test_a_healthy_log_exits_0(doctor):
    assert doctor("triage", LOGS / "clean" / "server-sigterm.log") == 0
    assert "no fault found" in doctor.out


def test_text_of_no_engine_exits_3(doctor, tmp_path):
    (tmp_path / "poem.txt").write_text("roses are red\n")

    assert doctor("triage", tmp_path / "poem.txt") == 3
    assert "no verdict" in doctor.out


def test_json_goes_to_standard_output_alone(doctor, crash):
    assert doctor("triage", crash, "--json", "-") == 1
    assert doctor.report["schema"] == "ddtree-doctor/triage/1"
    assert doctor.report["exit_code"] == 1


def test_every_output_at_once(doctor, crash, tmp_path):
    outputs = [tmp_path / name for name in ("r.json", "r.md", "r.tar.gz")]

    status = doctor("triage", crash, "--json", outputs[0], "--markdown", outputs[1], "--bundle", outputs[2])

    assert status == 1
    assert json.loads(outputs[0].read_text())["verdict"] == "fault"
    assert outputs[1].read_text().startswith("## doctor triage: fault found")
    with tarfile.open(outputs[2]) as archive:
        assert len(archive.getnames()) == 4
    assert "shape-width-mismatch" in doctor.out


def test_two_outputs_cannot_share_standard_output(doctor, crash):
    assert doctor("triage", crash, "--json", "-", "--markdown", "-") == 2
    assert "both want it" in doctor.err


def test_no_log_is_a_usage_error(doctor):
    assert doctor("triage") == 2


def sparse(path):
    with path.open("wb") as file:
        file.truncate(2 << 30)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.mkdir(), "is a directory"),
        (lambda path: None, "No such file"),
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.write_bytes(os.urandom(10_000)), "is binary"),
        (lambda path: path.write_bytes(b"PK\x03\x04" + bytes(100)), "zip archive"),
        (lambda path: path.write_bytes(gzip.compress(b"\n" * (96 << 20))), "200-fold"),
        (sparse, "nothing but NUL bytes"),
    ],
    ids=["directory", "missing", "empty", "binary", "archive", "bomb", "sparse"],
)
def test_what_is_no_log_gets_one_message_and_exits_2(doctor, tmp_path, make, words):
    make(tmp_path / "x.log")

    assert doctor("triage", tmp_path / "x.log") == 2
    assert doctor.out == ""
    assert doctor.err.count("\n") == 1
    assert words in doctor.err
    assert "Traceback" not in doctor.err


def test_standard_input(doctor, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CRASH.encode())))

    assert doctor("triage", "-") == 1
    assert "standard input" in doctor.out or "-:" in doctor.out


def test_it_loads_neither_torch_nor_sglang_nor_rich_for_json(crash):
    code = (
        "import sys; from ddtree_doctor.cli.main import main; "
        f"main(['triage', {str(crash)!r}, '--json', '-']); "
        "print(sorted({'torch', 'sglang', 'rich'} & set(sys.modules)), file=sys.stderr)"
    )

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ended.stderr.strip() == "[]"


def test_a_reader_that_went_away_is_no_verdict_and_not_a_fault():
    log = LOGS / "clean" / "server-sigterm.log"
    read, write = os.pipe()
    os.close(read)

    ended = subprocess.run(
        [sys.executable, "-m", "ddtree_doctor", "triage", str(log)], stdout=write, stderr=subprocess.PIPE
    )
    os.close(write)

    assert ended.returncode == 3
    assert b"Traceback" not in ended.stderr
