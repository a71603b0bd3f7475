"""A failing sequence of scenarios made smaller: whatever is asked of it, what is left fails and can lose nothing."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.reduction.ddmin import DidNotFail
from ddtree_doctor.reduction.scenarios import pruned, reduced, size
from ddtree_doctor.replay.catalogue import Ground, catalogue
from ddtree_doctor.replay.scenario import Batch, Request, Scenario
from ddtree_doctor.replay.shapes import TREES
from ddtree_doctor.tree.shapes import from_parents, spine
from tests.strategies import parents

GROUND = Ground(width=7, sizes=(1, 2, 4), context=96, vocabulary=64, page_size=4, shapes=tuple(TREES))
SCENARIOS = catalogue(GROUND)


def batches(scenarios):
    return [batch for scenario in scenarios for batch in scenario.batches]


def requests(scenarios):
    return [request for batch in batches(scenarios) for request in batch.requests]


def test_a_tree_that_branches_is_left_with_two_siblings():
    (one,) = reduced(SCENARIOS, lambda some: any(len(set(r.tree.depths)) < r.tree.nodes for r in requests(some)))
    (request,) = requests([one])
    assert (request.prefix, request.tree.parents, request.tree.width) == (1, (-1, 0, 0), 7)


def test_a_batch_that_shrinks_is_left_with_one_request_fewer():
    def fails(some):
        sizes = [[batch.size for batch in scenario.batches] for scenario in some]
        return any(later < before for one in sizes for before, later in pairwise(one))

    (one,) = reduced(SCENARIOS, fails)
    assert [batch.size for batch in one.batches] == [2, 1]
    assert size((one,)) == (1, 3, 0, 3)


def test_a_committed_length_is_left_as_short_as_it_fails():
    (one,) = reduced(SCENARIOS, lambda some: any(request.prefix >= 30 for request in requests(some)))
    assert [request.prefix for request in requests([one])] == [30]


def test_two_scenarios_stay_where_only_both_fail():
    def fails(some):
        return {"tree/star", "grow"} <= {one.name for one in some}

    assert [one.name for one in reduced(SCENARIOS, fails)] == ["tree/star", "grow"]


def test_a_suspect_that_fails_alone_is_taken_at_once():
    asked = []
    reduced(SCENARIOS, lambda some: asked.append(some) or some[0].name == "tree/star", suspects=["tree/star"])
    assert all(len(some) == 1 for some in asked)


def test_trees_that_are_to_stay_whole_do():
    (one,) = reduced(SCENARIOS, lambda some: True, whole_trees=True)
    assert requests([one])[0].tree in [request.tree for request in requests(SCENARIOS)]


def test_what_does_not_fail_is_refused():
    with pytest.raises(DidNotFail):
        reduced(SCENARIOS, lambda some: False)


@given(st.sampled_from(SCENARIOS), st.randoms(use_true_random=False))
def test_whatever_the_predicate_the_result_fails_is_no_larger_and_never_asked_twice(scenario, chance):
    answers = {(scenario,): True}
    asked = []

    def fails(some):
        asked.append(some)
        return answers.setdefault(some, chance.random() < 0.3)

    found = reduced((scenario,), fails)
    assert answers[found]
    assert size(found) <= size((scenario,))
    assert len(asked) == len(set(asked))


@given(st.lists(st.integers(1, 9), min_size=2, max_size=4))
def test_no_case_is_asked_about_in_which_a_request_loses_committed_tokens(lengths):
    tree = from_parents([-1]).padded(7)
    prefixes = sorted(lengths)
    steps = tuple(Batch(requests=(Request(slot=0, prefix=prefix, tree=tree),)) for prefix in prefixes)
    whole = (Scenario(name="s", batches=steps),)
    found = reduced(whole, lambda some: len(batches(some)) == len(prefixes))
    assert [request.prefix for request in requests(found)] == [1] * len(prefixes)


@given(parents(), st.data())
def test_a_pruned_tree_keeps_its_width_and_its_nodes_tokens_and_ancestry(shape, data):
    tree = from_parents(shape)
    kept = data.draw(st.sets(st.integers(0, tree.nodes - 1)))
    found = pruned(tree, sorted(kept))
    rows = sorted(kept | {0})
    assert found.width == tree.width
    assert found.tokens == tuple(rows)
    for new, old in enumerate(rows):
        assert [rows[row] for row in found.path(new)] == [row for row in tree.path(old) if row in rows]


def test_a_tree_of_which_all_is_kept_is_the_same():
    tree = spine(3, 2)
    assert pruned(tree, range(tree.nodes)) == tree
