import pytest

from ddtree_doctor.knowledge import NotKnown, Value


def test_a_known_value_is_given_out():
    assert Value(name="budget", value=32, origin="given").need() == 32


def test_zero_is_a_value():
    assert Value(name="budget", value=0, origin="given").need() == 0


def test_an_unknown_value_names_itself_and_the_reason():
    with pytest.raises(NotKnown, match="budget: BUDGET is not set in the file"):
        Value(name="budget", why="BUDGET is not set in the file").need()


def test_known_to_be_unset_is_known_but_cannot_be_needed():
    unset = Value(name="budget", origin="default")
    assert unset.known
    with pytest.raises(NotKnown, match="not set"):
        unset.need()
