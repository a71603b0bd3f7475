from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.tree.model import Tree
from ddtree_doctor.tree.shapes import chain
from ddtree_doctor.tree.walk import accept, walk_links
from tests.strategies import siblings_differ, targets


def longest(tree: Tree, after: list[int]) -> tuple[int, ...]:
    """Brute force: of all paths from the root on which every node is what the target says, the longest."""
    paths = [tree.path(row) for row in range(tree.nodes)]
    agreeing = [p for p in paths if all(tree.tokens[b] == after[a] for a, b in itertools.pairwise(p))]
    return max(agreeing, key=len)


@given(st.data())
def test_the_walk_accepts_what_a_search_of_all_paths_accepts(data: st.DataObject) -> None:
    tree = data.draw(siblings_differ())
    after = data.draw(targets(tree))
    found = accept(tree, after)
    assert found.rows == longest(tree, after)
    assert found.bonus == after[found.rows[-1]]


@given(st.data())
def test_the_kernels_links_walk_the_same_way(data: st.DataObject) -> None:
    tree = data.draw(siblings_differ())
    tree = tree.padded(tree.nodes + data.draw(st.integers(0, 4)), token=data.draw(st.integers(0, 5)))
    after = data.draw(targets(tree))
    assert walk_links(tree.links(), tree.rows, after) == accept(tree, after)


@given(st.data())
def test_accepted_and_freed_rows_share_out_the_forward(data: st.DataObject) -> None:
    tree = data.draw(siblings_differ())
    tree = tree.padded(tree.nodes + data.draw(st.integers(0, 4)))
    found = accept(tree, data.draw(targets(tree)))
    assert sorted((*found.rows, *found.freed(tree.width))) == list(range(tree.width))
    assert set(range(tree.nodes, tree.width)) <= set(found.freed(tree.width))


def test_a_chain_is_accepted_up_to_the_first_token_that_differs() -> None:
    found = accept(chain(4), [1, 2, 9, 4, 5])
    assert (found.rows, found.bonus, found.length) == ((0, 1, 2), 9, 3)


def test_every_node_needs_a_target() -> None:
    with pytest.raises(ValueError, match="2 target tokens for 4 nodes"):
        accept(chain(3), [1, 2])
