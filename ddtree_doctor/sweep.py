"""Which DDTree budgets keep which batch sizes, over budget × attention-TP."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from ddtree_doctor.contract.capture import capture, default_list, mul_base

__all__ = ["Cell", "sweep"]


class Cell(TypedDict):
    """One cell: `lost_bs` are the configured batch sizes that get no graph of their own at `width` tokens a request."""

    budget: int
    attn_tp: int
    width: int
    lost_bs: list[int]


def sweep(
    budgets: Iterable[int],
    attn_tps: Iterable[int],
    *,
    max_bs: int = 48,
    gather: bool = True,
    attn_cp: int = 1,
    two_batch_overlap: bool = False,
) -> list[Cell]:
    """One cell for every budget (nodes without the root) and attention-TP size, budgets slowest.

    The list is SGLang's default for speculation up to `max_bs`, which is also the number of requests that may run.
    """
    configured = default_list(max_bs, speculative=True)
    ranks = tuple(attn_tps)
    bases = {
        tp: mul_base(two_batch_overlap=two_batch_overlap, gather=gather, attn_tp=tp, attn_cp=attn_cp) for tp in ranks
    }

    def cell(budget: int, tp: int) -> Cell:
        width = budget + 1
        found = capture(configured, pool=max_bs, width=width, base=bases[tp], two_batch_overlap=two_batch_overlap)
        return Cell(budget=budget, attn_tp=tp, width=width, lost_bs=list(found.lost))

    return [cell(budget, tp) for budget in budgets for tp in ranks]
