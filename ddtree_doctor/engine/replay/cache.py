"""The keys that the cache holds for committed tokens: no verify pass may change them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from ddtree_doctor.engine.replay.stage import Stage

__all__ = ["committed_keys"]


def committed_keys(stage: Stage) -> torch.Tensor:
    """A copy of the first layer's keys at every committed position of every request, [tokens, …]."""
    slots = [stage.slots.of(slot, length) for slot, length in sorted(stage.committed.items())]
    return stage.keys[torch.cat(slots)].clone()
