from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ddtree_doctor.tree.ddtree import ddtree
from ddtree_doctor.tree.ranking import ranking
from tests.strategies import logits

BUDGETS = st.integers(0, 40)


def exhaustive(rows: list[list[float]], budget: int, count: int) -> list[tuple[int, ...]]:
    """The rank paths of the `budget` best of all paths: by summed log-probability, ties by rank tuple."""
    ranked = ranking(rows, count)
    found: list[tuple[float, tuple[int, ...]]] = []
    for depth in range(1, len(rows) + 1):
        for ranks in itertools.product(*(range(len(row)) for row in ranked[:depth])):
            score = 0.0
            for row, rank in zip(ranked, ranks, strict=False):
                score += row[rank].logp
            found.append((-score, ranks))
    return [ranks for _, ranks in sorted(found)[:budget]]


@given(logits(), BUDGETS)
@example([[0.0, 0.0], [0.0, 0.0]], 6)
def test_the_tree_is_the_budgets_best_paths_in_order(rows: list[list[float]], budget: int) -> None:
    tree = ddtree(rows, budget)
    ranked = ranking(rows, max(budget, 1))
    rank_of = [{candidate.token: rank for rank, candidate in enumerate(row)} for row in ranked]
    paths = [
        tuple(rank_of[depth][tree.tokens[node]] for depth, node in enumerate(tree.path(row)[1:]))
        for row in range(1, tree.nodes)
    ]
    assert paths == exhaustive(rows, budget, max(budget, 1))


@given(st.integers(1, 300), st.integers(1, 15), st.integers(0, 1 << 32), st.integers(0, 700))
def test_the_width_is_budget_plus_one_wherever_the_vocabulary_allows(
    budget: int, depth: int, seed: int, wider: int
) -> None:
    import random

    vocabulary = budget + wider
    source = random.Random(seed)
    tree = ddtree([[source.gauss(0, 3) for _ in range(vocabulary)] for _ in range(depth)], budget)
    assert (tree.drafted, tree.width) == (budget, budget + 1)
    assert max(tree.depths) <= depth


@given(logits(), BUDGETS)
def test_parents_come_first_and_siblings_differ(rows: list[list[float]], budget: int) -> None:
    tree = ddtree(rows, budget)
    assert all(parent < row for row, parent in enumerate(tree.parents))
    for children in tree.children():
        assert len({tree.tokens[child] for child in children}) == len(children)


@given(logits(), BUDGETS)
def test_depth_is_bounded_by_the_block(rows: list[list[float]], budget: int) -> None:
    assert max(ddtree(rows, budget).depths) <= len(rows)


@given(logits(), BUDGETS)
def test_scores_fall_and_are_the_sums_along_the_path(rows: list[list[float]], budget: int) -> None:
    tree = ddtree(rows, budget)
    assert all(a >= b for a, b in itertools.pairwise(tree.scores[1:]))
    ranked = ranking(rows, max(budget, 1))
    for row in range(1, tree.nodes):
        score = 0.0
        for depth, node in enumerate(tree.path(row)[1:]):
            score += next(c.logp for c in ranked[depth] if c.token == tree.tokens[node])
        assert tree.scores[row] == score


@given(logits(), BUDGETS, st.integers(1, 4))
def test_capped_candidates_leave_a_gap_that_pads_fill(rows: list[list[float]], budget: int, cap: int) -> None:
    short, full = ddtree(rows, budget, candidates=cap), ddtree(rows, budget, candidates=cap, pad_token=3)
    each = min(cap, len(rows[0]), max(budget, 1))
    possible = sum(each**depth for depth in range(1, len(rows) + 1))
    assert short.drafted == min(budget, possible)
    assert (full.width, full.pads) == (budget + 1, budget - short.drafted)
    assert (full.parents, full.tokens) == (short.parents, short.tokens)


@pytest.mark.parametrize("budget", [0, -3])
def test_without_a_budget_there_is_the_root_alone(budget: int) -> None:
    assert ddtree([[0.0, 1.0]], budget, root_token=9, pad_token=0).rows == (9,)


def test_without_rows_there_is_the_root_alone() -> None:
    assert ddtree([], 5).width == 1


def test_candidates_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        ddtree([[0.0]], 1, candidates=0)
