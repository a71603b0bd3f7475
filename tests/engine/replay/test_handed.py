from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from ddtree_doctor.engine.replay.handed import trees_of  # noqa: E402
from ddtree_doctor.replay.shapes import TREES, tree_of  # noqa: E402

pytestmark = pytest.mark.engine

WIDTHS = st.integers(1, 20)
BATCHES = st.lists(st.tuples(st.sampled_from(sorted(TREES)), st.integers(1, 30)), min_size=1, max_size=3)
BLANK = SimpleNamespace(verify_mask=None)


def made(trees, mask, **links):
    tokens = torch.tensor([token for tree in trees for token in tree.rows])
    return SimpleNamespace(draft_token=tokens, draft_token_num=trees[0].width, custom_mask=mask, **links)


def trees_and_lengths(batch, width):
    trees = [tree_of(shape, width, 256, seed) for seed, (shape, _) in enumerate(batch)]
    return trees, [length for _, length in batch]


def block(tree):
    return torch.tensor(tree.mask(), dtype=torch.bool)


def whole(tree, length):
    return torch.cat([torch.ones(tree.width, length, dtype=torch.bool), block(tree)], dim=1).flatten()


@given(BATCHES, WIDTHS)
def test_a_mask_over_prefix_and_tree_gives_the_trees_back(batch, width):
    trees, lengths = trees_and_lengths(batch, width)
    mask = torch.cat([whole(*pair) for pair in zip(trees, lengths, strict=True)])
    assert trees_of(made(trees, mask), lengths, BLANK) == trees


@given(BATCHES, WIDTHS, st.integers(0, 50))
def test_a_mask_over_the_tree_alone_in_a_longer_buffer_gives_them_back(batch, width, more):
    trees, lengths = trees_and_lengths(batch, width)
    mask = torch.cat([*(block(tree).flatten() for tree in trees), torch.ones(more, dtype=torch.bool)])
    backend = SimpleNamespace(verify_mask=SimpleNamespace(mode=SimpleNamespace(name="QLEN_ONLY")))
    assert trees_of(made(trees, mask), lengths, backend) == trees


@given(BATCHES, WIDTHS)
def test_links_give_them_back_where_there_is_no_mask(batch, width):
    trees, lengths = trees_and_lengths(batch, width)
    links = [tree.links() for tree in trees]
    given = made(
        trees,
        None,
        retrieve_next_token=torch.tensor([link.next_token for link in links]),
        retrieve_next_sibling=torch.tensor([link.next_sibling for link in links]),
    )
    assert trees_of(given, lengths, BLANK) == trees


def test_neither_mask_nor_links_is_a_chain():
    (tree,) = trees_of(made([tree_of("star", 4, 256, 0)], None), [5], BLANK)
    assert tree.parents == (-1, 0, 1, 2)


def test_a_mask_whose_layout_is_not_known_is_not_read():
    tree = tree_of("star", 4, 256, 0)
    backend = SimpleNamespace(verify_mask=SimpleNamespace(mode=SimpleNamespace(name="QLEN_ONLY_BITPACKING")))
    (read,) = trees_of(made([tree], torch.zeros(4, dtype=torch.uint8)), [5], backend)
    assert read.parents == (-1, 0, 1, 2)


def test_a_row_that_sees_no_other_ends_the_tree():
    tree = replace(tree_of("chain", 3, 256, 0), pads=2)
    (read,) = trees_of(made([tree], block(tree).flatten()), [7], BLANK)
    assert (read.nodes, read.pads) == (3, 2)
