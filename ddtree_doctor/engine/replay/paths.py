"""The path oracle: each tree row against a plain forward over prefix and path to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

from ddtree_doctor.engine.replay.compare import gap, noise
from ddtree_doctor.replay.record import Gap
from ddtree_doctor.replay.scenario import Batch
from ddtree_doctor.tree.model import Tree

if TYPE_CHECKING:
    from ddtree_doctor.engine.replay.stage import Stage

__all__ = ["path_gap"]

TOGETHER = 8
"""Paths in one plain forward."""

AGAIN = 2
"""Paths that are computed a second time, over their prefix in the cache, for the measured noise."""


def path_gap(stage: Stage, batch: Batch, tree_rows: torch.Tensor, dtype: str) -> Gap:
    """`tree_rows`, as `Stage.eager` gives them for the batch, held against plain forwards, pads left out.

    The noise is the largest difference between two plain computations of one path: in one forward, and over a cached
    prefix, which sums in another order.
    """
    trusted, rows, spread = [], [], 0.0
    for at, request in enumerate(batch.requests):
        paths = [(request.slot, _tokens(request.tree, leaf)) for leaf in _leaves(request.tree)]
        together = min(TOGETHER, stage.rows - batch.size)
        found = stage.plain(paths, together=together)
        again = stage.plain(paths[:AGAIN], together=together, from_cache=True)
        spread = max([spread, *(noise(one, other, dtype) for one, other in zip(found, again, strict=False))])
        nodes = dict(_by_node(request.tree, found))
        trusted += [nodes[node] for node in range(request.tree.nodes)]
        rows += [at * batch.width + node for node in range(request.tree.nodes)]
    return gap(torch.stack(trusted), tree_rows[rows], spread=spread, dtype=dtype, logits=stage.vocabulary)


def _leaves(tree: Tree) -> list[int]:
    return [row for row, children in enumerate(tree.children()) if not children]


def _tokens(tree: Tree, leaf: int) -> tuple[int, ...]:
    return tuple(tree.tokens[row] for row in tree.path(leaf))


def _by_node(tree: Tree, found: list[torch.Tensor]) -> Iterator[tuple[int, torch.Tensor]]:
    for leaf, logits in zip(_leaves(tree), found, strict=True):
        yield from zip(tree.path(leaf), logits, strict=True)
