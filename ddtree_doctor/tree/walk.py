"""The verify walk: which nodes of a tree the target accepts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ddtree_doctor.tree.model import Links, Tree

__all__ = ["Acceptance", "accept", "walk_links"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """What verify accepts: `rows` from the root down, and `bonus`, the target's token after the last of them.

    Accept length is the number of rows: the root's successor is always won, by the bonus if by nothing else.
    """

    rows: tuple[int, ...]
    bonus: int

    @property
    def length(self) -> int:
        """Tokens that this verify pass commits: drafted ones that were accepted, and the bonus."""
        return len(self.rows)

    def freed(self, width: int) -> tuple[int, ...]:
        """Rows of a verify forward of `width` whose KV slots are given back: all that were not accepted."""
        kept = set(self.rows)
        return tuple(row for row in range(width) if row not in kept)


def accept(tree: Tree, targets: Sequence[int]) -> Acceptance:
    """Walk down while a child holds the target's token. `targets[i]` is the target's token after row i.

    Of several children with the same token the first counts; a DDTree has no such siblings.
    Raises ValueError where a node has no target.
    """
    if len(targets) < tree.nodes:
        raise ValueError(f"{len(targets)} target tokens for {tree.nodes} nodes; one a row is needed")
    children, rows = tree.children(), [0]
    while (found := _child(tree, children[rows[-1]], targets[rows[-1]])) is not None:
        rows.append(found)
    return Acceptance(rows=tuple(rows), bonus=targets[rows[-1]])


def _child(tree: Tree, children: Sequence[int], token: int) -> int | None:
    return next((row for row in children if tree.tokens[row] == token), None)


def walk_links(links: Links, tokens: Sequence[int], targets: Sequence[int]) -> Acceptance:
    """The same walk as verify kernels do it, over first-child and next-sibling links."""
    rows, row = [0], links.next_token[0]
    while row >= 0:
        if tokens[row] == targets[rows[-1]]:
            rows.append(row)
            row = links.next_token[row]
        else:
            row = links.next_sibling[row]
    return Acceptance(rows=tuple(rows), bonus=targets[rows[-1]])
