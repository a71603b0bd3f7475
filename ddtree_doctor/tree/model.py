"""A draft tree as verify sees it: rows, parents, positions, mask, and the links that verify kernels walk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

__all__ = ["Links", "Tree"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """A tree as EAGLE's kernels hold it, one entry a row.

    `next_token` is a row's first child, `next_sibling` its next sibling; -1 where there is none. Rows are numbered
    inside one request: the kernels' `retrieve_index` adds request × width.
    """

    next_token: tuple[int, ...]
    next_sibling: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A draft tree. Row 0 is the root, the last accepted token; every other node is a drafted one.

    `parents[i]` is the row of node i's parent, -1 for the root; parents come before children. `tokens` holds each
    node's token id. `scores` holds each node's summed log-probability where a builder knows it, the root's is 0.
    `pads` rows follow the nodes: they are no part of the tree, see only themselves and can never be accepted.

    Raises ValueError where the arrays are no tree.
    """

    parents: tuple[int, ...]
    tokens: tuple[int, ...]
    scores: tuple[float, ...] = ()
    pads: int = 0
    pad_token: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        if not self.parents or self.parents[0] != -1:
            raise ValueError(f"a tree starts with its root, parent -1; the parents start with {self.parents[:1]}")
        for row, parent in enumerate(self.parents[1:], start=1):
            if not 0 <= parent < row:
                raise ValueError(f"row {row} has parent {parent}; a parent is a row between 0 and {row - 1}")
        if len(self.tokens) != len(self.parents):
            raise ValueError(f"{len(self.tokens)} tokens for {len(self.parents)} nodes")
        if self.scores and len(self.scores) != len(self.parents):
            raise ValueError(f"{len(self.scores)} scores for {len(self.parents)} nodes")
        if self.pads < 0:
            raise ValueError(f"{self.pads} pad rows; 0 or more are possible")

    @property
    def nodes(self) -> int:
        """Nodes with the root."""
        return len(self.parents)

    @property
    def drafted(self) -> int:
        """Nodes without the root: what a DDTREE budget counts."""
        return self.nodes - 1

    @property
    def width(self) -> int:
        """Rows of one verify forward: the nodes with the root, and the pads."""
        return self.nodes + self.pads

    @property
    def rows(self) -> tuple[int, ...]:
        """Token ids of the verify forward, `width` of them."""
        return self.tokens + (self.pad_token,) * self.pads

    @property
    def depths(self) -> tuple[int, ...]:
        """Steps from the root, `width` of them; a pad lies at 0."""
        found = [0]
        for parent in self.parents[1:]:
            found.append(found[parent] + 1)
        return tuple(found) + (0,) * self.pads

    def positions(self, start: int) -> tuple[int, ...]:
        """Position ids of the verify forward; `start` is the root's, the committed length. Siblings share one."""
        return tuple(start + depth for depth in self.depths)

    def mask(self) -> tuple[tuple[bool, ...], ...]:
        """Whether row i sees row j, `width` × `width`: itself and its ancestors. The committed prefix is not part."""
        seen: list[list[bool]] = []
        for row in range(self.width):
            parent = self.parents[row] if row < self.nodes else -1
            line = list(seen[parent]) if parent >= 0 else [False] * self.width
            line[row] = True
            seen.append(line)
        return tuple(map(tuple, seen))

    def children(self) -> tuple[tuple[int, ...], ...]:
        """Each node's children, in row order."""
        found: list[list[int]] = [[] for _ in self.parents]
        for row, parent in enumerate(self.parents[1:], start=1):
            found[parent].append(row)
        return tuple(map(tuple, found))

    def path(self, row: int) -> tuple[int, ...]:
        """The rows from the root to `row`."""
        steps = [row]
        while (row := self.parents[row]) >= 0:
            steps.append(row)
        return tuple(reversed(steps))

    def links(self) -> Links:
        """The tree as verify kernels walk it. A pad has no link, and none leads to it."""
        first, following = [-1] * self.width, [-1] * self.width
        for row in range(self.nodes - 1, 0, -1):
            parent = self.parents[row]
            first[parent], following[row] = row, first[parent]
        return Links(next_token=tuple(first), next_sibling=tuple(following))

    def padded(self, width: int, token: int = 0) -> Tree:
        """The same tree in `width` rows. Raises ValueError where it has more."""
        if width < self.nodes:
            raise ValueError(f"the tree has {self.nodes} nodes and does not fit {width} rows")
        return replace(self, pads=width - self.nodes, pad_token=token)

    def renamed(self, tokens: Sequence[int]) -> Tree:
        """The same shape with other token ids."""
        return replace(self, tokens=tuple(tokens))
