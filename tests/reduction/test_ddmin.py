"""Delta debugging: what it promises of any predicate, and of the ones that it is made for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.reduction.ddmin import DidNotFail, ddmin, smallest

ITEMS = st.integers(0, 40).map(range)


class Asked:
    """A predicate that keeps what it was asked."""

    def __init__(self, fails):
        self.fails, self.parts = fails, []

    def __call__(self, part):
        self.parts.append(part)
        return self.fails(part)


def any_predicate(items, chance):
    """Some answer for each part, always the same one; the whole fails."""
    answers = {tuple(items): True}
    return lambda part: answers.setdefault(part, chance.random() < 0.4)


@given(st.integers(1, 14).map(range), st.randoms(use_true_random=False))
def test_the_result_of_any_predicate_fails_and_loses_nothing(items, chance):
    fails = any_predicate(items, chance)
    found = ddmin(items, fails)
    assert fails(found)
    assert len(found) == 1 or not any(fails(found[:at] + found[at + 1 :]) for at in range(len(found)))


@given(st.integers(1, 14).map(range), st.randoms(use_true_random=False))
def test_each_part_is_in_order_not_empty_and_asked_once(items, chance):
    asked = Asked(any_predicate(items, chance))
    found = ddmin(items, asked)
    assert len(asked.parts) == len(set(asked.parts))
    assert all(part and list(part) == sorted(set(part)) for part in (*asked.parts, found))


@given(st.integers(1, 60), st.data())
def test_of_items_that_fail_together_just_these_are_left(count, data):
    guilty = data.draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=4))
    asked = Asked(lambda part: guilty <= set(part))
    assert set(ddmin(range(count), asked)) == guilty
    assert len(asked.parts) <= count**2 + 3 * count


def test_equal_items_are_told_apart_by_their_place():
    assert ddmin("aabaa", lambda part: part.count("a") >= 2) == ("a", "a")


@given(ITEMS)
def test_what_does_not_fail_cannot_be_reduced(items):
    with pytest.raises(DidNotFail, match=f"whole of {len(items)} items does not fail"):
        ddmin(items, lambda part: False)


def test_an_error_of_the_predicate_is_not_swallowed():
    with pytest.raises(ZeroDivisionError):
        ddmin(range(4), lambda part: 1 // 0)


@given(st.integers(1, 200), st.integers(1, 200))
def test_the_smallest_number_that_fails_is_found_where_all_above_it_fail(one, other):
    edge, high = sorted((one, other))
    assert smallest(1, high, lambda number: number >= edge) == edge


@given(st.integers(1, 200), st.randoms(use_true_random=False))
def test_whatever_fails_the_number_found_does(high, chance):
    answers = {high: True}
    found = smallest(1, high, lambda number: answers.setdefault(number, chance.random() < 0.5))
    assert 1 <= found <= high
    assert answers[found]
