import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.replay.shapes import TREES, tree_of

BUDGETS = (8, 9, 16, 17, 32, 33, 64, 65)
names = st.sampled_from(sorted(TREES))


@given(names, st.integers(1, 129), st.integers(0, 1000))
def test_every_shape_has_exactly_the_width_and_siblings_that_differ(name, width, seed):
    tree = tree_of(name, width, 256, seed)
    assert tree.width == width
    assert all(0 <= token < 256 for token in tree.rows)
    for children in tree.children():
        assert len({tree.tokens[row] for row in children}) == len(children)


@pytest.mark.parametrize("budget", BUDGETS)
def test_a_ddtree_fills_its_budget_and_stays_within_its_block(budget):
    tree = tree_of("ddtree", budget + 1, 256, 0)
    assert (tree.drafted, tree.pads) == (budget, 0)
    assert max(tree.depths) <= 7
    assert len(set(tree.depths)) > 2


@given(names, st.integers(1, 70), st.integers(0, 9))
def test_the_same_seed_gives_the_same_tree(name, width, seed):
    assert tree_of(name, width, 256, seed) == tree_of(name, width, 256, seed)


def test_more_siblings_than_tokens_are_refused():
    with pytest.raises(ValueError, match=r"[Ss]ample"):
        tree_of("star", 33, 8, 0)
