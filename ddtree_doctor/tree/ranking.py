"""The best tokens of each row of logits, as log-probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, isnan, log
from typing import Any, NamedTuple

__all__ = ["Candidate", "ranking"]


class Candidate(NamedTuple):
    """One token of a row and its log-probability."""

    token: int
    logp: float


def ranking(logits: Any, count: int) -> list[list[Candidate]]:
    """The `count` best tokens of each row of `logits` [depth, vocabulary], best first; of equal ones the lower id.

    `logits` may be log-probabilities too. A torch tensor is ranked in float32 on its own device, anything else that
    nests (numpy arrays, lists) in Python floats. Raises ValueError where it is no matrix or a row holds NaN, +inf, or
    no finite value.
    """
    rows = _by_torch(logits, count) if hasattr(logits, "logsumexp") else _by_python(logits, count)
    for depth, row in enumerate(rows):
        if any(isnan(candidate.logp) or candidate.logp == inf for candidate in row):
            raise ValueError(f"row {depth} of the logits holds NaN, +inf or no finite value")
    return rows


def _by_torch(logits: Any, count: int) -> list[list[Candidate]]:
    if logits.dim() != 2:
        raise ValueError(f"logits of shape {tuple(logits.shape)}; [depth, vocabulary] is needed")
    values = logits.float()
    best, tokens = values.sort(dim=-1, descending=True, stable=True)
    logps = (best[:, :count] - values.logsumexp(dim=-1, keepdim=True)).clamp(max=0.0)
    return [_row(ids, found) for ids, found in zip(tokens[:, :count].tolist(), logps.tolist(), strict=True)]


def _row(tokens: Sequence[int], logps: Sequence[float]) -> list[Candidate]:
    return [Candidate(token, logp) for token, logp in zip(tokens, logps, strict=True)]


def _by_python(logits: Any, count: int) -> list[list[Candidate]]:
    rows = logits.tolist() if hasattr(logits, "tolist") else logits
    if not isinstance(rows, Sequence) or not all(isinstance(row, Sequence) for row in rows):
        raise ValueError("logits must nest as [depth, vocabulary]")
    if len({len(row) for row in rows}) > 1:
        raise ValueError("rows of the logits differ in length")
    return [_best(list(map(float, row)), count) for row in rows]


def _best(row: list[float], count: int) -> list[Candidate]:
    largest = max(row, default=-inf)
    if isnan(sum(row)) or largest in (inf, -inf):
        return [Candidate(0, inf)]
    total = largest + log(sum(exp(value - largest) for value in row))
    order = sorted(range(len(row)), key=lambda token: (-row[token], token))
    return [Candidate(token, min(0.0, row[token] - total)) for token in order[:count]]
