"""Which runner plays which role, and what to say where none does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["ROLES", "Place", "expected", "roles_of"]

_UNO_MODES = ("_tree_draft_mode", "_tree_mode")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a role's runner is: on which worker, and in which forward modes it captures."""

    role: str
    on_draft: bool
    modes: tuple[str, ...]


_PLACES = (
    Place(role="decode", on_draft=False, modes=("DECODE", "DLLM_EXTEND")),
    Place(role="target_verify", on_draft=False, modes=("TARGET_VERIFY",)),
    Place(role="draft", on_draft=True, modes=("DECODE", "TARGET_VERIFY")),
    Place(role="draft_extend", on_draft=True, modes=("DRAFT_EXTEND_V2", "DRAFT_EXTEND")),
)

_STEPWISE = ("target_verify", "draft", "draft_extend")

ROLES: Mapping[str, tuple[str, ...]] = {
    "NONE": ("decode",),
    "EAGLE": _STEPWISE,
    "EAGLE3": _STEPWISE,
    "STANDALONE": _STEPWISE,
    "MULTI_LAYER_EAGLE": ("target_verify", "draft_extend"),
    "NGRAM": ("target_verify",),
    "DFLASH": ("target_verify", "draft"),
    "DDTREE": ("target_verify", "draft"),
    "DSPARK": ("target_verify", "draft"),
    "UNO": ("target_verify", "draft"),
    "FROZEN_KV_MTP": ("target_verify", "draft"),
}
"""Algorithm → the roles that have a graph. MULTI_LAYER_EAGLE is EAGLE with one draft layer a step."""


def expected(algorithm: str) -> tuple[str, ...]:
    """The roles that `algorithm` should have; for one that is not known, verify alone."""
    return ROLES.get(algorithm, ("target_verify",))


def roles_of(runner: Any, mode: str, *, on_draft: bool) -> tuple[str, ...]:
    """The roles that a runner plays which captures in `mode`; none where no role does.

    UNO drafts with its target: a tree's draft has a runner of its own beside verify's, a chain shares one.
    """
    tree_draft, tree = (getattr(runner, name, None) for name in _UNO_MODES)
    if tree is not None:
        return ("draft",) if tree_draft else ("target_verify",) if tree else ("target_verify", "draft")
    return tuple(place.role for place in _PLACES if place.on_draft == on_draft and mode in place.modes)
