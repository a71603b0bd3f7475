import os
import signal
import sys
import time

import pytest

from ddtree_doctor.engine.copies import in_copies
from ddtree_doctor.probe.child import Failed

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="copies are forks")


def refuse():
    raise Failed("no such thing")


def stumble():
    raise KeyError("slot")


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def leave():
    os._exit(3)


def unsayable():
    return {1, 2}


@pytest.mark.parametrize("at_once", [1, 2, 9])
def test_answers_come_in_the_order_of_the_works(at_once):
    works = [lambda value=value: time.sleep(0.05 * (3 - value)) or {"value": value} for value in range(4)]
    assert in_copies(works, at_once=at_once) == [{"answer": {"value": value}} for value in range(4)]


@pytest.mark.parametrize(
    ("work", "why"),
    [
        (refuse, "no such thing"),
        (stumble, "KeyError: 'slot'"),
        (die, "killed by SIGKILL"),
        (leave, "exited with status 3 without an answer"),
        (sys.exit, "exited with status 1 without an answer"),
        (unsayable, "TypeError: Object of type set is not JSON serializable"),
    ],
)
def test_what_goes_wrong_in_one_copy_is_its_reason_and_harms_no_other(work, why):
    assert in_copies([work, lambda: 1], at_once=2) == [{"failed": why}, {"answer": 1}]


def test_a_copy_leaves_no_trace():
    seen = []
    assert in_copies([lambda: seen.append(1) or len(seen)] * 2) == [{"answer": 1}, {"answer": 1}]
    assert seen == []


def test_a_long_answer_comes_whole():
    assert in_copies([lambda: "x" * 1_000_000])[0]["answer"] == "x" * 1_000_000


def test_what_was_printed_before_is_not_printed_again(capfd):
    sys.stdout.write("once")
    in_copies([lambda: None])
    sys.stdout.flush()
    assert capfd.readouterr().out.count("once") == 1


def test_without_works_there_are_no_answers():
    assert in_copies([]) == []
