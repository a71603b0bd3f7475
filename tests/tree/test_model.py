from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ddtree_doctor.tree.model import Tree
from ddtree_doctor.tree.shapes import from_parents
from tests.strategies import parents


@given(parents())
def test_a_row_sees_itself_and_its_ancestors_only(found: tuple[int, ...]) -> None:
    tree = from_parents(found)
    for row, line in enumerate(tree.mask()):
        assert {seen for seen, sees in enumerate(line) if sees} == set(tree.path(row))


@given(parents())
def test_the_mask_is_the_parents_row_and_the_row_itself(found: tuple[int, ...]) -> None:
    mask = from_parents(found).mask()
    for row, parent in enumerate(found[1:], start=1):
        assert [seen for seen, sees in enumerate(mask[row]) if sees and seen != row] == [
            seen for seen, sees in enumerate(mask[parent]) if sees
        ]


@given(parents(), st.integers(0, 1 << 20))
def test_positions_go_down_by_one_from_the_committed_length(found: tuple[int, ...], start: int) -> None:
    positions = from_parents(found).positions(start)
    assert positions[0] == start
    assert all(positions[row] == positions[parent] + 1 for row, parent in enumerate(found[1:], start=1))


@given(parents())
def test_links_lead_through_every_nodes_children_in_row_order(found: tuple[int, ...]) -> None:
    tree = from_parents(found)
    links = tree.links()
    for row, children in enumerate(tree.children()):
        walked, at = [], links.next_token[row]
        while at >= 0:
            walked.append(at)
            at = links.next_sibling[at]
        assert tuple(walked) == children


@given(parents(), st.integers(0, 8))
def test_pads_see_only_themselves_and_no_link_leads_to_them(found: tuple[int, ...], pads: int) -> None:
    tree = from_parents(found).padded(len(found) + pads, token=7)
    assert (tree.width, tree.nodes, len(tree.rows)) == (len(found) + pads, len(found), tree.width)
    assert tree.rows[tree.nodes :] == (7,) * pads
    links = tree.links()
    for pad in range(tree.nodes, tree.width):
        assert [row for row, sees in enumerate(tree.mask()[pad]) if sees] == [pad]
        assert pad not in (*links.next_token, *links.next_sibling)
        assert links.next_token[pad] == links.next_sibling[pad] == -1


@given(parents(), st.integers(1, 8))
def test_padding_changes_nothing_of_the_nodes(found: tuple[int, ...], pads: int) -> None:
    tree = from_parents(found)
    padded = tree.padded(tree.nodes + pads)
    assert padded.depths[: tree.nodes] == tree.depths
    assert [line[: tree.nodes] for line in padded.mask()[: tree.nodes]] == list(tree.mask())


def test_a_tree_does_not_fit_fewer_rows() -> None:
    with pytest.raises(ValueError, match="3 nodes"):
        from_parents([-1, 0, 0]).padded(2)


@given(st.lists(st.integers(-3, 6), max_size=6))
@example([])
@example([0])
@example([-1, 1])
@example([-1, -1])
def test_only_parent_arrays_are_trees(found: list[int]) -> None:
    if found[:1] == [-1] and all(0 <= parent < row for row, parent in enumerate(found[1:], start=1)):
        assert from_parents(found).nodes == len(found)
    else:
        with pytest.raises(ValueError, match=r"root|parent"):
            from_parents(found)


def test_arrays_of_other_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="tokens for 2 nodes"):
        Tree(parents=(-1, 0), tokens=(0,))
    with pytest.raises(ValueError, match="scores for 2 nodes"):
        Tree(parents=(-1, 0), tokens=(0, 1), scores=(0.0,))
    with pytest.raises(ValueError, match="pad rows"):
        Tree(parents=(-1,), tokens=(0,), pads=-1)
