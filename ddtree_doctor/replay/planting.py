"""Draft tokens of which some are what the target says next, so that a path is accepted that is not the first rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ddtree_doctor.tree.model import Tree

__all__ = ["planted"]


def planted(tree: Tree, following: Sequence[int], *, depth: int, vocabulary: int) -> Tree:
    """`tree` with the target's next tokens on one path of at most `depth` steps, and on no other branch.

    `following` is what the target says after the root, after that, and so on. Of the deepest paths the one with the
    highest rows is taken: the last children, not the first. Below the path nothing is changed, so that the walk may go
    on there by luck. Raises ValueError where `following` is shorter than the path.
    """
    depths = tree.depths
    deepest = min(depth, max(depths[: tree.nodes]))
    path = tree.path(max(row for row in range(tree.nodes) if depths[row] == deepest))
    if len(path) - 1 > len(following):
        raise ValueError(f"{len(following)} next tokens for a path of {len(path) - 1} steps")
    wanted = dict(zip(path[1:], following, strict=False))
    tokens = list(tree.tokens)
    for row in range(1, tree.nodes):
        if row in wanted:
            tokens[row] = wanted[row]
        elif tree.parents[row] in path and depths[row] <= len(following):
            tokens[row] = _other(tokens[row], following[depths[row] - 1], vocabulary)
    return replace(tree, tokens=tuple(tokens), scores=())


def _other(token: int, taken: int, vocabulary: int) -> int:
    return token if token != taken else (token + 1) % vocabulary
