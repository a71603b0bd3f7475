import pytest

from ddtree_doctor.triage.model import Clock, Fault, Frame, Place

PLACE = Place(file="f", line=1)


@pytest.mark.parametrize(
    ("one", "other", "before"),
    [
        (Clock(engine=1), Clock(engine=2), True),
        (Clock(engine=2), Clock(engine=1), False),
        (Clock(engine=1), Clock(engine=1), None),
        (Clock(engine=1), Clock(wrapper=2), None),
        (Clock(engine=1, wrapper=9), Clock(engine=1, wrapper=8), False),
        (Clock(), Clock(), None),
    ],
)
def test_only_times_of_one_clock_are_compared(one, other, before):
    assert one.before(other) is before


def test_a_fault_as_text_is_type_and_message():
    assert Fault(kind="exception", place=PLACE, exception="KeyError", message=("a", "b")).text == "KeyError: a\nb"
    assert Fault(kind="device", place=PLACE, message=("a",)).text == "a"


def test_a_chain_ends_with_the_fault_itself():
    cause = Fault(kind="exception", place=PLACE, exception="ValueError")

    assert Fault(kind="exception", place=PLACE, causes=(cause,)).chain()[0] is cause


def test_a_frame_as_text_is_what_signatures_meet():
    assert str(Frame(file="a/b.py", line=3, function="f", source="g()")) == "a/b.py:f: g()"
