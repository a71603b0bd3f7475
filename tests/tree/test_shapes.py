from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.tree.shapes import chain, eagle, spine, star

SMALL = st.integers(1, 6)


@given(st.integers(0, 64))
def test_a_chain_is_causal(length: int) -> None:
    tree = chain(length)
    assert tree.depths == tuple(range(length + 1))
    assert all(line == tuple(seen <= row for seen in range(tree.width)) for row, line in enumerate(tree.mask()))


@given(st.integers(0, 64))
def test_a_star_has_depth_one(leaves: int) -> None:
    assert star(leaves).depths == (0,) + (1,) * leaves


@given(SMALL, SMALL)
def test_a_spine_has_siblings_at_every_depth(depth: int, breadth: int) -> None:
    tree = spine(depth, breadth)
    assert tree.width == 1 + depth * breadth
    assert [tree.depths.count(d) for d in range(depth + 1)] == [1] + [breadth] * depth


@given(SMALL, SMALL)
def test_an_eagle_draft_has_topk_candidates_then_topk_squared_a_step(topk: int, steps: int) -> None:
    tree = eagle(topk, steps)
    assert tree.width == 1 + topk + (steps - 1) * topk * topk
    assert max(tree.depths) == steps


@given(SMALL, st.integers(2, 5), st.randoms())
def test_an_eagle_draft_expands_the_rows_that_were_kept(topk: int, steps: int, random: object) -> None:
    kept: list[int] = []

    def keep(rows: object) -> list[int]:
        chosen = random.sample(list(rows), topk)  # type: ignore[attr-defined, call-overload]
        kept.extend(chosen)
        return chosen

    tree = eagle(topk, steps, keep)
    inner = {parent for parent in tree.parents if parent > 0}
    assert inner == set(kept[: topk * (steps - 1)])
