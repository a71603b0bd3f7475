"""The trees that scenarios verify, each of exactly a given width, by name."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from ddtree_doctor.tree.ddtree import ddtree
from ddtree_doctor.tree.model import Tree
from ddtree_doctor.tree.shapes import chain, from_parents, spine, star

__all__ = ["CHAINS", "TREES", "tree_of"]

Shape = Callable[[int, random.Random], Tree]


def _ddtree(width: int, chance: random.Random) -> Tree:
    """A DDTree of `width` - 1 nodes from random logits, seven deep as a block of eight drafts."""
    if width == 1:
        return from_parents([-1])
    logits = [[chance.gauss(0.0, 2.0) for _ in range(max(width, 8))] for _ in range(7)]
    return ddtree(logits, width - 1)


def _spine(width: int, _: random.Random) -> Tree:
    """A chain whose nodes each have one sibling that leads nowhere, as deep as fits."""
    return spine((width - 1) // 2, 2).padded(width)


def _random(width: int, chance: random.Random) -> Tree:
    """Every node below any earlier one."""
    return from_parents([-1] + [chance.randrange(row) for row in range(1, width)])


TREES: Mapping[str, Shape] = {
    "ddtree": _ddtree,
    "chain": lambda width, _: chain(width - 1),
    "spine": _spine,
    "star": lambda width, _: star(width - 1),
    "root": lambda width, _: from_parents([-1]).padded(width),
    "random": _random,
}
"""Name → tree of a width. All but `chain` need a backend that takes a tree mask."""

CHAINS = ("chain",)
"""What linear algorithms verify."""


def tree_of(shape: str, width: int, vocabulary: int, seed: int) -> Tree:
    """The named tree of `width` rows, its tokens drawn below `vocabulary`, siblings all different. Deterministic.

    Raises KeyError for an unknown name, ValueError where a node has more children than the vocabulary has tokens.
    """
    chance = random.Random(f"{shape}/{width}/{vocabulary}/{seed}")
    tree = TREES[shape](width, chance)
    tokens = [chance.randrange(vocabulary)] * tree.nodes
    for children in tree.children():
        for row, token in zip(children, chance.sample(range(vocabulary), len(children)), strict=True):
            tokens[row] = token
    return replace(tree, tokens=tuple(tokens), scores=())
