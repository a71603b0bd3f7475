from __future__ import annotations

import pytest

from ddtree_doctor.contract.values import derived, forced, settle, unknown, unset
from ddtree_doctor.knowledge import NotKnown, Value


def fail(subject: str) -> Value[int]:
    raise NotKnown(subject, "not there")


@pytest.mark.parametrize(("subject", "why"), [("x", "not there"), ("config of m", "config of m: not there")])
def test_what_is_missing_becomes_the_reason(subject: str, why: str) -> None:
    value: Value[int] = settle("x", lambda: fail(subject))
    assert (value.known, value.why) == (False, why)


def test_what_can_be_computed_stays() -> None:
    assert settle("x", lambda: derived("x", 3, "one and two")).need() == 3


def test_unset_is_known_and_unknown_is_not() -> None:
    none: Value[int] = unset("x")
    missing: Value[int] = unknown("x", "why")
    assert (none.known, none.value, missing.known) == (True, None, False)
    assert forced("x", 1, "why").origin == "forced"
