"""The speculative part of the settings."""

from __future__ import annotations

from dataclasses import dataclass

from ddtree_doctor.knowledge import Value

__all__ = ["FIELDS", "Speculation"]

FIELDS = ("num_draft_tokens", "num_steps", "topk", "block_size", "budget")
"""The fields that an algorithm's own rules fill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speculation:
    """What speculation a launch comes down to. `budget` counts nodes without the root, whatever the flag counts."""

    algorithm: Value[str]
    multi_layer: Value[bool]
    num_draft_tokens: Value[int]
    num_steps: Value[int]
    topk: Value[int]
    block_size: Value[int]
    budget: Value[int]
