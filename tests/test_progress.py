import io
import time

from ddtree_doctor import progress
from ddtree_doctor.progress import counted, step


def test_what_is_quick_says_nothing():
    out = io.StringIO()
    with step("starting", out):
        pass
    assert out.getvalue() == ""


def test_what_takes_long_says_what_it_does(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE_S", 0.01)
    out = io.StringIO()
    with step("starting", out):
        deadline = time.monotonic() + 5
        while not out.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert out.getvalue().startswith("doctor: starting …")


def test_counts_and_time_left_are_said_once_the_interval_has_passed(monkeypatch):
    monkeypatch.setattr(progress, "INTERVAL_S", 0.0)
    out = io.StringIO()
    told = counted("triton, page 16", out)
    told("tree/star", 0, 4)
    told("grow", 2, 4)
    first, second = out.getvalue().splitlines()
    assert first == "doctor: triton, page 16: 0 of 4, tree/star"
    assert second.startswith("doctor: triton, page 16: 2 of 4, grow, about 0 s left")


def test_counts_within_the_interval_say_nothing():
    out = io.StringIO()
    told = counted("triton", out)
    for done in range(100):
        told("tree/star", done, 100)
    assert out.getvalue() == ""
