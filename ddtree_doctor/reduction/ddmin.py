"""Delta debugging: the part of a failing input that still fails and from which nothing can be left out.

The algorithm is `ddmin` of Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input" (IEEE TSE 28,
2002). Nothing here knows what the items are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

__all__ = ["DidNotFail", "ddmin", "smallest"]

T = TypeVar("T")
Kept = tuple[int, ...]


class DidNotFail(ValueError):
    """The whole input does not fail: there is nothing to reduce."""


def ddmin(items: Sequence[T], fails: Callable[[tuple[T, ...]], bool]) -> tuple[T, ...]:
    """A part of `items`, in their order, that fails, and that passes whenever any one item is left out of it.

    `fails` is asked at most once for each part, and never for the empty one: a single item is as small as it gets.
    What it answers need follow no law. Raises DidNotFail where `items` as a whole do not fail.
    """
    asked: dict[Kept, bool] = {}

    def failing(kept: Kept) -> bool:
        if kept not in asked:
            asked[kept] = bool(kept) and fails(tuple(items[at] for at in kept))
        return asked[kept]

    kept = tuple(range(len(items)))
    if not failing(kept):
        raise DidNotFail(f"the whole of {len(items)} items does not fail: there is nothing to reduce")
    parts = 2
    while len(kept) > 1:
        smaller = next(filter(lambda pair: failing(pair[0]), _smaller(kept, parts)), None)
        if smaller is not None:
            kept, parts = smaller
        elif parts < len(kept):
            parts = min(2 * parts, len(kept))
        else:
            break
    return tuple(items[at] for at in kept)


def _smaller(kept: Kept, parts: int) -> Iterator[tuple[Kept, int]]:
    """Each of `parts` parts alone, then all but each; with the number of parts to go on with from there."""
    edges = [len(kept) * at // parts for at in range(parts + 1)]
    cuts = list(pairwise(edges))
    for start, end in cuts:
        yield kept[start:end], 2
    if parts > 2:
        for start, end in cuts:
            yield kept[:start] + kept[end:], max(parts - 1, 2)


def smallest(low: int, high: int, fails: Callable[[int], bool]) -> int:
    """A number from `low` to `high` that fails, found by halving: the smallest where all above one that fails fail.

    `high` is taken to fail and is not asked.
    """
    if low < high and fails(low):
        return low
    while high - low > 1:
        middle = (low + high) // 2
        if fails(middle):
            high = middle
        else:
            low = middle
    return high
