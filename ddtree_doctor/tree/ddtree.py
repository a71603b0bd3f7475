"""The reference DDTree: the budget's most probable paths of one drafted block.

From the paper (https://arxiv.org/abs/2604.12989). A block draft gives a distribution for each depth, independent of the
path taken; a path's score is the sum of its log-probabilities. Best first over a heap: each node taken offers its next
sibling and its best child. Node order is the order in which nodes are taken.

Sums are taken along the path, so that the order is exactly that of the scores. The published code
(https://github.com/liranringel/ddtree) steps from sibling to sibling by subtracting and adding, whose rounding may swap
two nodes whose scores differ in the last bit, and leaves the order of equal logits open.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any, NamedTuple

from ddtree_doctor.tree.model import Tree
from ddtree_doctor.tree.ranking import Candidate, ranking

__all__ = ["ddtree"]


class _Offer(NamedTuple):
    """A node that may be taken next: best score first, ties by the ranks on its path."""

    cost: float
    ranks: tuple[int, ...]
    parent: int


def ddtree(
    logits: Any, budget: int, *, candidates: int | None = None, root_token: int = 0, pad_token: int | None = None
) -> Tree:
    """The tree of `budget` nodes below the root; the budget does not count the root, so verify is `budget + 1` wide.

    `logits` is [depth, vocabulary]: what the draft says of each position after the root, block size - 1 rows. With all
    of the vocabulary as candidates the first depth alone can fill the budget; where `candidates` caps them, or the
    vocabulary is small, fewer paths may exist. Then the tree is smaller, or, with `pad_token`, padded to its width.

    Raises ValueError where the logits cannot be ranked or `candidates` is below 1.
    """
    if candidates is not None and candidates < 1:
        raise ValueError(f"{candidates} candidates a depth; at least 1 is needed")
    count = budget if candidates is None else min(budget, candidates)
    tree = _grow(ranking(logits, count) if budget > 0 else [], budget, root_token)
    return tree if pad_token is None else tree.padded(max(budget, 0) + 1, pad_token)


def _grow(rows: list[list[Candidate]], budget: int, root_token: int) -> Tree:
    parents, tokens, scores = [-1], [root_token], [0.0]
    heap: list[_Offer] = []

    def offer(parent: int, ranks: tuple[int, ...]) -> None:
        depth, rank = len(ranks) - 1, ranks[-1]
        if depth < len(rows) and rank < len(rows[depth]):
            heappush(heap, _Offer(-(scores[parent] + rows[depth][rank].logp), ranks, parent))

    offer(0, (0,))
    while heap and len(parents) <= budget:
        taken = heappop(heap)
        depth, rank = len(taken.ranks) - 1, taken.ranks[-1]
        parents.append(taken.parent)
        tokens.append(rows[depth][rank].token)
        scores.append(-taken.cost)
        offer(taken.parent, (*taken.ranks[:-1], rank + 1))
        offer(len(parents) - 1, (*taken.ranks, 0))
    return Tree(parents=tuple(parents), tokens=tuple(tokens), scores=tuple(scores))
