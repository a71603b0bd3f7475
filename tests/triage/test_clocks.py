import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.triage.clocks import seconds

NOON = seconds("2025-11-03 12:00:00")


@pytest.mark.parametrize(
    "stamp",
    [
        "2025-11-03T12:00:00Z",
        "2025-11-03 12:00:00,000",
        "11-03 12:00:00",
        "1103 12:00:00",
        "Nov 03 12:00:00",
        "Nov  3 12:00:00",
    ],
)
def test_every_spelling_of_one_time_is_one_time(stamp):
    assert seconds(stamp) == NOON


def test_fractions_and_offsets_count():
    assert seconds("2025-11-03T12:00:00.25Z") == NOON + 0.25
    assert seconds("2025-11-03T14:00:00+02:00") == NOON


@pytest.mark.parametrize("stamp", ["", "noon", "13-99 12:00:00", "00-00 12:00:00", "Foo 03 12:00:00"])
def test_what_is_no_time_is_none(stamp):
    assert seconds(stamp) is None


@given(st.text())
def test_never_raises(text):
    seconds(text)


@given(st.datetimes(), st.datetimes())
def test_keeps_the_order_within_a_year(one, other):
    one, other = one.replace(year=2023, microsecond=0), other.replace(year=2023, microsecond=0)

    assert (seconds(str(one)) < seconds(str(other))) is (one < other)
