"""The decision table: order, and the rows for context, batch and lengths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.triage.known import Known
from ddtree_doctor.triage.mismatch import Mismatch, mismatches
from ddtree_doctor.triage.rows import ROWS, batch, context, readings

FOUNDING = "The size of tensor a (8) must match the size of tensor b (33) at non-singleton dimension 0"
DDTREE = Known(algorithm="DDTREE", block=8, budget=32)


def fits(text, known):
    return [(reading.row, reading.fit) for reading in readings(mismatches(text), known) if reading.fit != "no"]


def pair(had, wanted):
    return Mismatch(kind="pair", had=had, wanted=wanted)


def test_the_founding_fault():
    assert fits(FOUNDING, DDTREE) == [("width", "verified")]
    assert [number.value for reading in readings(mismatches(FOUNDING), DDTREE) for number in reading.numbers] == [8, 33]


def test_the_same_eight_with_a_captured_maximum_of_eight_is_another_fault():
    assert fits(FOUNDING, Known(algorithm="DFLASH", block=8, draft_tokens=8, graph_max=8, running=(33,))) == [
        ("batch", "verified")
    ]


def test_two_rows_that_fit_are_both_told_the_earlier_first():
    known = Known(algorithm="DDTREE", block=8, budget=32, graph_max=8, running=(33,))

    assert fits(FOUNDING, known) == [("batch", "verified"), ("width", "verified")]


def test_without_settings_nothing_is_verified():
    assert fits(FOUNDING, Known()) == [("width", "assumed")]


@pytest.mark.parametrize(
    ("had", "wanted", "known", "fit"),
    [
        (614406, 614408, Known(context=614400), "verified"),
        (202752, 202754, Known(), "assumed"),
        (202752, 202754, Known(context=131072), "no"),
        (8, 33, Known(context=8), "no"),
        (32000, 151936, Known(), "no"),
        (2048, 2048, Known(context=2048), "no"),
        (4096, 4103, Known(context=4096, draft_tokens=3), "verified"),
        (4096, 4104, Known(context=4096, draft_tokens=3), "no"),
    ],
)
def test_context(had, wanted, known, fit):
    assert context(pair(had, wanted), known).fit == fit


@pytest.mark.parametrize(
    ("had", "wanted", "known", "fit"),
    [
        (8, 9, Known(graph_max=8, max_running=9), "verified"),
        (8, 33, Known(graph_max=8, running=(33,)), "verified"),
        (8, 33, Known(graph_max=8, running=(3, 33)), "verified"),
        (8, 33, Known(graph_max=8), "assumed"),
        (8, 33, Known(graph_max=8, running=(3,)), "no"),
        (8, 33, Known(graph_max=16, running=(33,)), "no"),
        (8, 33, Known(running=(33,)), "assumed"),
        (8, 33, Known(), "no"),
        (8, 33, Known(graph_max=8, max_running=33, budget=32), "assumed"),
    ],
)
def test_batch(had, wanted, known, fit):
    assert batch(pair(had, wanted), known).fit == fit


def test_lengths():
    assert fits("length of new_indices: 5 != length of topk_p: 7", Known()) == [("lengths", "verified")]


@given(
    st.builds(
        Mismatch,
        kind=st.sampled_from(["pair", "concat", "capacity", "lengths", "view", "matmul", "named", "bound"]),
        had=st.integers(0, 10**6),
        wanted=st.integers(0, 10**6),
        shape=st.lists(st.integers(0, 200), max_size=4).map(tuple),
    ),
    st.builds(
        Known,
        algorithm=st.sampled_from(["", "DDTREE", "EAGLE", "DFLASH"]),
        **{
            name: st.none() | st.integers(0, 200)
            for name in ("block", "budget", "draft_tokens", "steps", "topk", "width", "graph_max")
        },
        context=st.none() | st.integers(0, 10**6),
        running=st.lists(st.integers(0, 64), max_size=2).map(tuple),
    ),
)
def test_no_row_raises_and_what_fits_explains_its_numbers(size, known):
    for row in ROWS:
        reading = row(size, known)
        if reading is not None and reading.fit != "no":
            assert reading.numbers
            assert reading.why
            assert (reading.fit == "assumed") == bool(reading.missing)


@given(st.integers(1, 64), st.integers(1, 256), st.integers(1, 8))
def test_block_and_budget_are_recognised_at_any_number_of_requests(block, budget, requests):
    known = Known(algorithm="DDTREE", block=block, budget=budget)
    text = f"The size of tensor a ({block * requests}) must match the size of tensor b ({(budget + 1) * requests})"

    assert (("width", "verified") in fits(text, known)) == (block != budget + 1)
