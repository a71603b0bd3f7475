"""The child's end of a probe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ddtree_doctor.probe.child import ANSWER_FD, HELLO, Failed, serve


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch):
    """The pipe that `serve` answers on, and a job on standard input."""
    reader, writer = os.pipe()
    monkeypatch.setenv(ANSWER_FD, str(writer))
    monkeypatch.setattr("ddtree_doctor.probe.child._die_with_parent", lambda: None)
    monkeypatch.setattr("sys.stdin", type("Stdin", (), {"readline": staticmethod(lambda: "[1, 2]\n")}))
    with os.fdopen(reader) as answers:
        yield answers


def test_hello_comes_before_the_answer(pipe):
    serve(sum)
    assert [json.loads(line) for line in pipe] == [HELLO, {"answer": 3}]


def test_failed_becomes_the_reason(pipe):
    def work(job: object) -> None:
        raise Failed("the engine refuses")

    serve(work)
    assert [json.loads(line) for line in pipe][1] == {"failed": "the engine refuses"}


def test_an_exception_becomes_one_line_with_its_place(pipe, capsys: pytest.CaptureFixture[str]):
    serve(lambda job: job.missing)
    said = [json.loads(line) for line in pipe][1]["failed"]
    assert said.startswith("AttributeError: 'list' object has no attribute 'missing' (test_child.py:")
    assert "\n" not in said
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a child with its parent")
def test_a_probe_dies_with_the_doctor():
    body = (
        "import os, sys, subprocess, time\n"
        "reader, writer = os.pipe()\n"
        "probe = 'from ddtree_doctor.probe.child import serve; import time; serve(lambda job: time.sleep(600))'\n"
        f"os.environ[{ANSWER_FD!r}] = str(writer)\n"
        "command = [sys.executable, '-c', probe]\n"
        "child = subprocess.Popen(command, pass_fds=(writer,), stdin=subprocess.PIPE, text=True)\n"
        "child.stdin.write('0\\n'); child.stdin.flush()\n"
        "os.read(reader, 1)\n"
        "print(child.pid, flush=True); os.kill(os.getpid(), 9)\n"
    )
    doctor = subprocess.run([sys.executable, "-c", body], stdout=subprocess.PIPE, text=True, timeout=30, check=False)
    process, until = int(doctor.stdout), time.monotonic() + 5
    while os.path.exists(f"/proc/{process}") and time.monotonic() < until:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{process}") or "Z" in Path(f"/proc/{process}/stat").read_text()
