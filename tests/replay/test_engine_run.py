"""Where two runs of a whole engine part: laws over any texts, and what counts as a tie."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.replay.engine_run import (
    EngineRun,
    Text,
    agreement,
    allowed,
    divergences,
    first_divergence,
    largest_difference,
    trusted_of,
)

TOKENS = st.lists(st.integers(0, 3), max_size=6).map(tuple)
TEXTS = st.lists(TOKENS, max_size=4)


def run(texts, *, best=(), spread=0.0, **fields):
    given_best = best or [()] * len(texts)
    made = tuple(Text(tokens=tuple(text), best=tuple(pairs)) for text, pairs in zip(texts, given_best, strict=True))
    plain = {"host": "cpu", "algorithm": "NONE", "speculation": False, "graphs": False, "number": 1}
    return EngineRun(**{**plain, **fields}, backend="triton", dtype="float32", texts=made, spread=spread)


@given(TEXTS)
def test_a_run_never_parts_from_itself(texts):
    assert list(divergences(run(texts), run(texts))) == []
    assert agreement(run(texts), run(texts)) == "same"


@given(TEXTS, TEXTS)
def test_there_is_one_divergence_for_each_prompt_that_differs_and_all_before_it_is_equal(one, two):
    found = {each.prompt: each for each in divergences(run(one), run(two))}
    longest = max(len(one), len(two))
    one, two = ([*texts, *[()] * (longest - len(texts))] for texts in (one, two))
    assert set(found) == {at for at in range(longest) if one[at] != two[at]}
    for at, each in found.items():
        assert one[at][: each.position] == two[at][: each.position]
        assert each.token == next(iter(one[at][each.position :]), None)
        assert each.other == next(iter(two[at][each.position :]), None)
        assert each.token != each.other


@given(TEXTS, TEXTS)
def test_runs_part_at_the_same_places_whichever_is_trusted(one, two):
    there, back = (list(divergences(run(a), run(b))) for a, b in ((one, two), (two, one)))
    assert [(each.prompt, each.position, each.token, each.other) for each in there] == [
        (each.prompt, each.position, each.other, each.token) for each in back
    ]


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_divergence_is_a_tie_exactly_where_the_gap_is_within_what_the_spread_allows(gap, spread):
    trusted = run([(1, 2)], best=[((0.0, -5.0), (-1.0, -1.0 - gap))], spread=spread)
    exact = -1.0 - (-1.0 - gap)
    tie = agreement(trusted, run([(1, 3)])) == "tie"
    assert tie == (exact <= allowed(trusted))


def test_an_end_or_an_unknown_gap_is_never_a_tie():
    best = [((0.0, 0.0), (0.0, 0.0))]
    assert agreement(run([(1, 2)], best=best, spread=1.0), run([(1,)])) == "differs"
    assert agreement(run([(1, 2)], spread=1.0), run([(1, 3)])) == "differs"


def test_a_fault_is_told_before_an_earlier_tie_in_another_prompt():
    best = [((-1.0, -1.0), (-1.0, -2.0)), ((-1.0, -3.0), (-1.0, -3.0))]
    first = first_divergence(run([(1, 2), (4, 5)], best=best), run([(9, 2), (4, 8)]))
    assert first is not None
    assert (first.prompt, first.position, first.gap) == (1, 1, 2.0)


@given(st.lists(st.tuples(st.floats(-9, 0), st.floats(-9, 0)), max_size=5))
def test_equal_log_probabilities_have_no_spread(pairs):
    assert largest_difference(pairs, pairs) == 0.0


def test_the_spread_is_of_either_of_the_two_best():
    assert largest_difference([(-1.0, -2.0)], [(-1.0, -2.5)]) == 0.5


@pytest.mark.parametrize(
    ("fields", "doubt"),
    [
        ({"unknown": "killed"}, "killed"),
        ({"graphs": True}, "no graph was replayed"),
        ({"replays": 3}, "3 graphs were replayed with graphs off"),
        ({"graphs": True, "replays": 3}, ""),
        ({}, ""),
    ],
)
def test_a_run_is_in_doubt_where_it_failed_or_was_not_in_its_graph_mode(fields, doubt):
    seen = replace(run([]), **fields)
    assert seen.doubt.startswith(doubt)
    assert bool(seen.doubt) == bool(doubt)


def test_the_trusted_run_is_the_first_eager_one_without_speculation_that_said_something():
    graphs = run([(1,)], graphs=True, replays=1)
    assert trusted_of([graphs]) is None
    assert trusted_of([graphs, run([(1,)], unknown="killed")]) is None
    assert trusted_of([graphs, run([(1,)])]) == run([(1,)])
