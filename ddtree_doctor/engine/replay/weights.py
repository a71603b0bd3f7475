"""Random weights large enough that attention matters: dummy weights give logits of 1e-6, in which nothing is seen."""

from __future__ import annotations

from typing import Any

import torch

from ddtree_doctor.engine import seams

__all__ = ["spread_all", "spread_weights"]

GAIN = 1.5


def spread_weights(model: Any, seed: int = 0) -> None:
    """Draw every matrix of `model` anew, in place, so that its outputs keep their size; vectors (norms) become 1.

    In place because captured graphs hold the addresses. The same seed gives the same weights on every device.
    """
    chance = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for _, weight in sorted(model.named_parameters()):
            if not weight.is_floating_point():
                continue
            if weight.dim() < 2:
                weight.fill_(1.0)
                continue
            drawn = torch.randn(weight.shape, generator=chance, device="cpu", dtype=torch.float32) * (
                GAIN / weight.shape[-1] ** 0.5
            )
            weight.copy_(drawn.to(weight.dtype))


def spread_all(started: Any, seed: int = 0) -> None:
    """The same for the models of all workers. Drafts first: what they share with the target is then the target's."""
    for drafting in getattr(started.draft, "_draft_model_runners", tuple)():
        spread_weights(drafting.model, seed)
    spread_weights(seams.field(started.target, "model runner").model, seed)
