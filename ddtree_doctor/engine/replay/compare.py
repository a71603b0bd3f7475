"""Rows of logits held against each other: numbers only."""

from __future__ import annotations

from math import inf, isfinite

import torch

from ddtree_doctor.replay.record import EPSILON, Gap, tolerance

__all__ = ["gap", "largest", "noise"]

MOST_ROUNDINGS = {"float32": 64.0, "float16": 16.0, "bfloat16": 4.0}
"""No order of summing differs by more. Half-width numbers are summed in float32: only their own rounding shows."""


def largest(one: torch.Tensor, other: torch.Tensor) -> float:
    """The largest absolute difference; infinity where either side holds NaN or infinity, or has other rows."""
    if one.shape != other.shape:
        return inf
    if one.numel() == 0:
        return 0.0
    found = (one.float() - other.float()).abs().max().item()
    return found if isfinite(found) else inf


def noise(one: torch.Tensor, other: torch.Tensor, dtype: str) -> float:
    """By how much two computations differ that must agree, as far as rounding explains it.

    Beyond that a fault is in one of them; taken for noise it would hide itself.
    """
    scale = one.float().abs().max().item() if one.numel() else 0.0
    return min(largest(one, other), MOST_ROUNDINGS[dtype] * EPSILON[dtype] * scale)


def gap(trusted: torch.Tensor, other: torch.Tensor, *, spread: float, dtype: str, logits: int | None = None) -> Gap:
    """`other` held against `trusted`, row by row; `spread` is the measured noise of this comparison.

    The first `logits` columns are logits, all if it is None; what stands beside them is compared like them. Where one
    has fewer rows, as the output of another graph has, the first row that it lacks is one that differs.
    """
    scale = trusted.float().abs().max().item() if trusted.numel() else 0.0
    found, row = largest(trusted, other), _first_beyond(trusted, other, tolerance(spread, scale, dtype))
    return Gap(
        largest=found if isfinite(found) else None,
        scale=scale,
        spread=spread,
        row=row,
        top2=None if row is None or row >= len(trusted) else _top2(trusted[row][:logits]),
    )


def _first_beyond(trusted: torch.Tensor, other: torch.Tensor, allowed: float) -> int | None:
    both = min(len(trusted), len(other))
    by_row = (trusted[:both].float() - other[:both].float()).abs().amax(dim=1).nan_to_num(inf)
    beyond = (by_row > allowed).nonzero()
    if beyond.numel():
        return int(beyond[0])
    return both if len(trusted) != len(other) else None


def _top2(row: torch.Tensor) -> float:
    best = row.float().topk(2).values
    return float(best[0] - best[1])
