"""The capture list: which batch sizes get a graph, as pure functions.

Written from what the rule is for: a graph's tokens (batch size × width) are scattered over the attention-TP ranks, so
they must divide evenly; two-batch overlap halves the batch, so there the batch size itself must. SGLang's own function
is `get_batch_sizes_to_capture`; a property test holds the two together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import gcd

__all__ = ["Capture", "aligned_budgets", "capture", "default_list", "mul_base", "round_up"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """What becomes of a configured list.

    `base` is what batch size × width must be a multiple of. `sizes` get a graph. `lost` were configured and fit the
    request pool, but their tokens do not divide by `base`: such a batch is padded to the next size that has a graph,
    or runs eagerly where padding is off. `pool` is the request pool's size, rounded up to a multiple of `base`.
    """

    base: int
    sizes: tuple[int, ...]
    lost: tuple[int, ...]
    pool: int

    @property
    def refused(self) -> bool:
        """Whether the engine refuses to start with this list: nothing is left of it, or a size is not positive."""
        return not self.sizes or self.sizes[0] <= 0


def mul_base(*, two_batch_overlap: bool, gather: bool, attn_tp: int, attn_cp: int) -> int:
    """What batch size × width must be a multiple of.

    `gather` says that activations are gathered over the attention-TP ranks (`contract.parallelism`). Context parallel
    multiplies it only where it is no divisor already.
    """
    base = (2 if two_batch_overlap else 1) * (attn_tp if gather else 1)
    return base if base % attn_cp == 0 else base * attn_cp


def round_up(number: int, base: int) -> int:
    """The least multiple of `base` that is not below `number`."""
    return -(-number // base) * base


def capture(configured: Iterable[int], *, pool: int, width: int, base: int, two_batch_overlap: bool) -> Capture:
    """The batch sizes that get a graph of `width` tokens a request, and those that lose it.

    `pool` is the number of requests that may run at once on one data-parallel rank. Where the list goes beyond it,
    the rounded pool itself is captured too, so that the largest batch has a graph.
    """
    tokens = 1 if two_batch_overlap else width
    limit = round_up(pool, base)
    wanted = set(configured)
    if wanted and max(wanted) > limit:
        wanted.add(limit)
    fitting = sorted(size for size in wanted if size <= limit)
    kept = tuple(size for size in fitting if size * tokens % base == 0)
    return Capture(base=base, sizes=kept, lost=tuple(sorted(set(fitting) - set(kept))), pool=limit)


def default_list(max_bs: int, *, speculative: bool, padding: bool = True) -> tuple[int, ...]:
    """The batch sizes that SGLang configures up to `max_bs` where the launch names none.

    `padding` false (`--disable-cuda-graph-padding`) configures every size.
    """
    if not padding:
        return tuple(range(1, max_bs + 1))
    spans = SPECULATIVE_SPANS if speculative else PLAIN_SPANS
    sizes = {size for first, last, step in spans for size in range(first, min(last, max_bs) + 1, step)}
    return tuple(sorted(sizes | {max_bs}))


PLAIN_SPANS = ((1, 2, 1), (4, 12, 4), (16, 256, 8), (272, 511, 16), (512, 1 << 31, 32))
"""(first, last, step): coarse where padding a one-token request is cheap."""

SPECULATIVE_SPANS = ((1, 8, 1), (10, 32, 2), (40, 64, 4), (72, 256, 8), (272, 1 << 31, 16))
"""Finer, as padding costs a whole verify window."""


def aligned_budgets(budget: int, configured: Iterable[int], *, base: int, two_batch_overlap: bool) -> tuple[int, ...]:
    """The nearest DDTree budgets (below, above) whose width keeps every configured size; once, if it is `budget`.

    Empty where no budget does: under two-batch overlap the width does not matter.
    """
    common = gcd(*configured)
    step = base // gcd(base, common)
    if two_batch_overlap:
        return (budget,) if step == 1 else ()
    below = (budget + 1) // step * step - 1
    above = round_up(budget + 1, step) - 1
    return tuple(sorted({found for found in (below, above) if found >= 1}))
