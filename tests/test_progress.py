import io
import time

from ddtree_doctor import progress
from ddtree_doctor.progress import step


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
