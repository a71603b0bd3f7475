"""Metamorphic replays: one thing changed between two replays of one graph, and what the logits did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from ddtree_doctor.engine.replay.batches import Verify
from ddtree_doctor.engine.replay.compare import gap, noise
from ddtree_doctor.replay.record import Response
from ddtree_doctor.replay.scenario import Batch, Request
from ddtree_doctor.replay.shapes import tree_of
from ddtree_doctor.tree.model import Tree

if TYPE_CHECKING:
    from ddtree_doctor.engine.replay.suite import Suite

__all__ = ["mirrored", "responses"]

PREFIX = 9


def responses(suite: Suite, *, width: int, trees: bool) -> Iterator[Response]:
    """What a graph answers to changes; those of the mask and of sibling order only where the role verifies trees."""
    shape = "ddtree" if trees else "chain"
    batch = _batch(tree_of(shape, width, suite.stage.vocabulary, 1))
    suite.stage.clear()
    with suite.watched("responses"):
        verify = suite.stage.verify(batch)
    first, again = (suite.replay(verify, "responses").logits for _ in range(2))
    spread = max(suite.spread, suite.summing, noise(first, again, suite.dtype))

    def changed(name: str, must: str, other: Verify, trusted: torch.Tensor = first) -> Response:
        seen = suite.replay(other, f"responses, {name}").logits
        return Response(name=name, must=must, gap=gap(trusted, seen, spread=spread, dtype=suite.dtype))

    if width > 1:
        yield changed("the positions", "change", replace(verify, positions=verify.positions.flip(0).contiguous()))
    if trees and width > 2:
        yield changed("the tree mask", "change", replace(verify, mask=_causal(verify)))
        yield changed("the root's mask", "change", replace(verify, mask=_without_root(verify)))
        order, tree = mirrored(batch.requests[0].tree)
        with suite.watched("responses"):
            turned = suite.stage.verify(_batch(tree))
        yield changed("the order of siblings", "keep", turned, first[order])
    suite.stage.clear()


def _batch(tree: Tree) -> Batch:
    return Batch(requests=(Request(slot=0, prefix=PREFIX, tree=tree),))


def mirrored(tree: Tree) -> tuple[list[int], Tree]:
    """The tree with siblings in reverse order, depth first; and for each of its rows the old row. Pads stay last."""
    children, order = tree.children(), list[int]()
    waiting = [0]
    while waiting:
        row = waiting.pop()
        order.append(row)
        waiting += children[row]
    place = {old: new for new, old in enumerate(order)}
    parents = tuple(-1 if old == 0 else place[tree.parents[old]] for old in order)
    turned = replace(tree, parents=parents, tokens=tuple(tree.tokens[old] for old in order), scores=())
    return [*order, *range(tree.nodes, tree.width)], turned


def _causal(verify: Verify) -> torch.Tensor:
    """The mask of a chain for one request: row i sees the prefix and rows 0 to i."""
    length = int(verify.lengths[0])
    seen = torch.ones(verify.width, length + verify.width, dtype=torch.bool, device=verify.mask.device)
    return seen.tril(diagonal=length).flatten()


def _without_root(verify: Verify) -> torch.Tensor:
    """The mask with the root hidden from all other rows. The prefix is no test: some backends never mask it."""
    length = int(verify.lengths[0])
    mask = verify.mask.clone().view(verify.width, -1)
    mask[1:, length] = False
    return mask.flatten()
