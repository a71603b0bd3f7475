"""Trees of a given shape. Every node's token is its own row, so that siblings differ; `Tree.renamed` gives others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ddtree_doctor.tree.model import Tree

__all__ = ["chain", "eagle", "from_parents", "spine", "star"]


def from_parents(parents: Iterable[int]) -> Tree:
    """The tree of a parent array, root first. Raises ValueError where it is none."""
    found = tuple(parents)
    return Tree(parents=found, tokens=tuple(range(len(found))))


def chain(length: int) -> Tree:
    """`length` nodes below the root, one under the other: what linear drafting verifies."""
    return from_parents(range(-1, length))


def star(leaves: int) -> Tree:
    """`leaves` nodes, all directly below the root."""
    return from_parents([-1] + [0] * leaves)


def spine(depth: int, breadth: int) -> Tree:
    """A chain of `depth` nodes, each of them the first of `breadth` siblings: 1 + depth × breadth rows."""
    parents, tip = [-1], 0
    for _ in range(depth):
        first = len(parents)
        parents += [tip] * breadth
        tip = first
    return from_parents(parents)


def eagle(topk: int, steps: int, keep: Callable[[Sequence[int]], Sequence[int]] | None = None) -> Tree:
    """All candidates of an EAGLE draft: 1 + topk + (steps - 1) × topk² rows.

    Each step expands `topk` nodes of the last one by `topk` children each. `keep` picks those from a step's rows; the
    first `topk` where it is not given. See https://arxiv.org/abs/2406.16858.
    """
    parents, beams = [-1], [0]
    for _ in range(steps):
        first = len(parents)
        parents += [beam for beam in beams for _ in range(topk)]
        level = range(first, len(parents))
        beams = list(keep(level) if keep else level)[:topk]
    return from_parents(parents)
