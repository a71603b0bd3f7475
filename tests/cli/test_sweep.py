import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.cli.sweep import numbers
from ddtree_doctor.errors import UsageError


def test_budget_32_loses_the_small_batches_at_eight_ranks_and_31_none(doctor):
    assert doctor("sweep", "--budget", "31..32", "--attn-tp", "1,8", "--json", "-") == 0
    lost = {(cell["budget"], cell["attn_tp"]): cell["lost_bs"] for cell in doctor.report["cells"]}
    assert lost[31, 8] == lost[31, 1] == lost[32, 1] == []
    assert lost[32, 8][:7] == [1, 2, 3, 4, 5, 6, 7]


def test_without_a_gather_nothing_is_lost(doctor):
    assert doctor("sweep", "--budget", "1..64", "--no-gather", "--json", "-") == 0
    assert all(cell["lost_bs"] == [] for cell in doctor.report["cells"])


def test_a_person_sees_a_map(doctor):
    assert doctor("sweep", "--budget", "31,32", "--attn-tp", "8") == 0
    assert "attn-TP 8" in doctor.out
    assert "1-7" in doctor.out


@pytest.mark.parametrize("text", ["", "x", "5..1", "0", "-3", "1..99999", "1..", "1,,2", "٣", "1.5"])
def test_numbers_that_are_none_are_refused(doctor, text):
    assert doctor("sweep", f"--budget={text}") == 2
    assert "--budget" in doctor.err


def test_a_largest_batch_below_one_is_refused(doctor):
    assert doctor("sweep", "--max-bs", "0") == 2


@given(st.lists(st.tuples(st.integers(1, 500), st.integers(0, 30)), min_size=1, max_size=5))
def test_ranges_and_numbers_are_read_in_order_each_once(spans):
    text = ",".join(str(low) if more == 0 else f"{low}..{low + more}" for low, more in spans)
    expected = dict.fromkeys(number for low, more in spans for number in range(low, low + more + 1))
    assert numbers("--budget", text) == tuple(expected)


@given(st.text(max_size=12))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(UsageError):
        assert all(number >= 1 for number in numbers("--budget", text))
