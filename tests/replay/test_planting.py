import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.replay.planting import planted
from ddtree_doctor.replay.shapes import TREES, tree_of
from ddtree_doctor.tree.shapes import spine
from ddtree_doctor.tree.walk import accept

shapes = st.sampled_from(sorted(TREES))
texts = st.lists(st.integers(0, 255), min_size=64, max_size=64)


def said(tree, text):
    """What a target says after each row that follows `text` wherever the row stands."""
    return [text[depth] for depth in tree.depths]


@given(shapes, st.integers(1, 40), st.integers(0, 9), texts, st.integers(0, 8))
def test_the_walk_accepts_exactly_the_planted_path_down_to_its_depth(shape, width, seed, text, depth):
    tree = planted(tree_of(shape, width, 256, seed), text, depth=depth, vocabulary=256)
    accepted = accept(tree, said(tree, text)).rows
    deepest = min(depth, max(tree.depths))
    assert accepted[: deepest + 1] == tree.path(accepted[deepest])
    assert deepest == 0 or accepted[deepest] == max(row for row in range(tree.nodes) if tree.depths[row] == deepest)


@given(shapes, st.integers(1, 40), st.integers(0, 9), texts)
def test_the_shape_stays_and_so_does_the_root(shape, width, seed, text):
    before = tree_of(shape, width, 256, seed)
    after = planted(before, text, depth=3, vocabulary=256)
    assert (after.parents, after.pads, after.tokens[0]) == (before.parents, before.pads, before.tokens[0])


def test_of_siblings_the_last_is_taken():
    tree = planted(spine(2, 3), [50, 60], depth=2, vocabulary=256)
    assert accept(tree, said(tree, [50, 60, 70])).rows == (0, 1, 6)


def test_a_depth_of_0_plants_nothing_that_the_walk_could_take():
    tree = planted(spine(2, 3), [2, 60], depth=0, vocabulary=256)
    assert accept(tree, said(tree, [2, 60, 70])).rows == (0,)


def test_too_few_next_tokens_are_refused():
    with pytest.raises(ValueError, match="1 next tokens"):
        planted(spine(3, 1), [5], depth=3, vocabulary=256)
