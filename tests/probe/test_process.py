"""A probe's process: whatever a child does, its end has a name, and nothing of it is left behind."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ddtree_doctor.probe.process import KINDS, Limits, Outcome, _read, _step, run

TIGHT = Limits(deadline=5.0, start=5.0, grace=0.3, output=1 << 20, disk=4 << 20)
HELLO = "from ddtree_doctor.probe.child import *; import os, sys, signal, time\n"
SAY_HELLO = (
    HELLO + "fd = int(os.environ[ANSWER_FD]); os.write(fd, (__import__('json').dumps(HELLO) + '\\n').encode())\n"
)


def child(body: str, *, job: object = None, limits: Limits = TIGHT) -> Outcome:
    """How a child that runs `body` ends."""
    return run([sys.executable, "-c", body], job, limits=limits)


def test_an_answer_comes_back_with_the_time_it_took():
    outcome = child(HELLO + "serve(lambda job: {'twice': job * 2})", job=21)
    assert (outcome.kind, outcome.answer) == ("ok", {"twice": 42})
    assert 0 < outcome.seconds < TIGHT.deadline


def test_what_the_child_prints_goes_to_the_log_not_into_the_answer():
    outcome = child(HELLO + "serve(lambda job: [print('{\"answer\": 1}'), sys.stderr.write('warned')] and 2)")
    assert outcome.answer == 2
    assert "answer" in outcome.log
    assert "warned" in outcome.log


@pytest.mark.parametrize(
    ("body", "kind", "why"),
    [
        pytest.param("os.kill(os.getpid(), 9)", "killed", "killed by SIGKILL", id="kills itself"),
        pytest.param("os.abort()", "killed", "killed by SIGABRT", id="aborts"),
        pytest.param("os.kill(os.getpid(), 11)", "killed", "killed by SIGSEGV", id="segmentation fault"),
        pytest.param("os._exit(0)", "silence", "ended without an answer", id="leaves without a word"),
        pytest.param("os._exit(3)", "exit", "exited with status 3 without an answer", id="exits with a status"),
        pytest.param("raise ValueError('x')", "exit", "exited with status 1 without an answer", id="raises outside"),
        pytest.param("serve(lambda job: 1 / 0)", "failed", "ZeroDivisionError: division by zero", id="raises inside"),
        pytest.param("serve(lambda job: (_ for _ in ()).throw(Failed('no')))", "failed", "no", id="says why not"),
        pytest.param("os.write(fd, b'{]\\n')", "garbage", "not one line of JSON", id="no JSON"),
        pytest.param("os.write(fd, b'7\\n')", "garbage", "no answer", id="JSON that is no answer"),
        pytest.param("os.write(fd, b'{\"answer\": 1}\\n' * 2)", "garbage", "not one line of JSON", id="answers twice"),
        pytest.param("os.write(fd, b'[' * 60000 + b'\\n')", "garbage", "not one line of JSON", id="deep nesting"),
    ],
)
def test_each_end_has_its_name(body: str, kind: str, why: str):
    outcome = child((HELLO if "serve" in body else SAY_HELLO) + body)
    assert (outcome.kind, outcome.answer) == (kind, None)
    assert why in outcome.why
    assert outcome.kind in KINDS


def test_a_child_that_spins_is_ended_at_its_deadline():
    outcome = child(SAY_HELLO + "while True: pass", limits=Limits(deadline=0.7, grace=0.2))
    assert (outcome.kind, outcome.why) == ("timeout", "timed out after 0.7 s")
    assert outcome.seconds < 5


def test_a_child_that_never_starts_is_ended_before_its_deadline():
    outcome = child("import time; time.sleep(60)", limits=Limits(deadline=30.0, start=0.5, grace=0.2))
    assert (outcome.kind, outcome.why) == ("timeout", "did not start within 0.5 s")
    assert outcome.seconds < 10


def test_a_child_deaf_to_sigterm_is_killed():
    deaf = SAY_HELLO + "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(1)"
    outcome = child(deaf, limits=Limits(deadline=0.7, grace=0.2))
    assert (outcome.kind, outcome.code) == ("timeout", -signal.SIGKILL)


def test_sigterm_comes_first_so_that_a_child_may_clean_up():
    polite = (
        "import os, signal\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('cleaned up', flush=True), os._exit(0)))\n"
        f"{SAY_HELLO}while True: time.sleep(0.05)"
    )
    outcome = child(polite, limits=Limits(deadline=0.7, grace=5.0))
    assert outcome.kind == "timeout"
    assert "cleaned up" in outcome.log


def test_a_child_that_fills_its_output_is_ended():
    outcome = child(SAY_HELLO + "while True: print('x' * 10000)")
    assert (outcome.kind, outcome.why) == ("output", f"printed more than {TIGHT.output} bytes")
    assert len(outcome.log) < 1 << 17


def test_a_child_that_fills_its_disk_is_ended():
    outcome = child(
        SAY_HELLO + "f = open('big', 'wb')\nwhile True: f.write(b'x' * 1000000); f.flush(); time.sleep(0.02)"
    )
    assert outcome.kind == "disk"
    assert f"{TIGHT.disk} are allowed" in outcome.why


def test_what_the_child_started_ends_with_it():
    parent = (
        "import subprocess\n"
        "def work(job):\n"
        "    return subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']).pid\n"
        "serve(work)"
    )
    outcome = child(HELLO + parent)
    assert outcome.kind == "ok"
    assert gone(outcome.answer)


def test_a_grandchild_that_left_the_session_and_holds_the_pipes_does_not_hang_the_doctor():
    parent = (
        "import subprocess\n"
        "def work(job):\n"
        "    sleeper = [sys.executable, '-c', 'import time; time.sleep(20)']\n"
        "    return subprocess.Popen(sleeper, start_new_session=True).pid\n"
        "serve(work)"
    )
    outcome = child(HELLO + parent)
    os.kill(outcome.answer, signal.SIGKILL)
    assert outcome.kind == "ok"
    assert outcome.seconds < 10


def test_the_childs_folder_is_its_own_and_goes_with_it():
    outcome = child(HELLO + "serve(lambda job: (open('left', 'w').close(), [os.getcwd(), os.environ['TMPDIR']])[1])")
    here, temporary = outcome.answer
    assert here == temporary
    assert not Path(here).exists()


def test_a_program_that_is_not_there_is_no_traceback():
    outcome = run(["/no/such/program"], limits=TIGHT)
    assert outcome.kind == "spawn"
    assert "/no/such/program" in outcome.why


def test_no_descriptor_is_left_open():
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else pytest.skip("no /proc")
    child(HELLO + "serve(lambda job: job)")
    child("raise SystemExit(1)")
    run(["/no/such/program"], limits=TIGHT)
    assert len(os.listdir("/proc/self/fd")) == before


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
@settings(max_examples=15, deadline=None)
def test_any_job_comes_back_unchanged(job: object):
    assert child(HELLO + "serve(lambda job: job)", job=job).answer == job


@given(st.lists(st.binary(max_size=60), max_size=4))
def test_reading_an_answer_never_raises(lines: list[bytes]):
    kind, _, answer = _read(lines)
    assert kind in KINDS
    assert answer is None or kind == "ok"


@given(JSON)
def test_only_an_object_with_an_answer_after_the_hello_is_one(value: object):
    kind, _, answer = _read([b'"ddtree-doctor/probe/1"', json.dumps({"answer": value}).encode()])
    assert (kind, answer) == ("ok", value)
    assert _read([json.dumps({"answer": value}).encode()] * 2)[0] == "garbage"


def gone(process: int) -> bool:
    """Whether `process` has ended, within two seconds."""
    until = time.monotonic() + 2
    while time.monotonic() < until:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        if _zombie(process):
            return True
        time.sleep(0.02)
    return False


def _zombie(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_steps_are_told_as_they_come_and_are_no_part_of_the_answer():
    told = []
    body = HELLO + "serve(lambda job: [progress('tree/star', 0, 2), progress('grow', 1, 2)] and 5)"
    outcome = run([sys.executable, "-c", body], limits=TIGHT, progress=lambda *step: told.append(step))
    assert (outcome.kind, outcome.answer) == ("ok", 5)
    assert told == [("tree/star", 0, 2), ("grow", 1, 2)]


def test_a_line_that_only_begins_like_a_step_is_garbage():
    outcome = child(SAY_HELLO + "os.write(fd, b'{\"progress\": 7}\\n')")
    assert outcome.kind in ("silence", "garbage")
    assert outcome.answer is None


@given(st.binary(max_size=60))
def test_reading_a_step_never_raises(line: bytes):
    assert _step(b'{"progress": ' + line) is None or b"[" in line
