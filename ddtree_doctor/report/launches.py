"""The `launches` part of a report: what was given, what cannot be known, and what was probably meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ddtree_doctor.contract.model import Settings
from ddtree_doctor.facts.model import Engine
from ddtree_doctor.knowledge import Value
from ddtree_doctor.launch.model import Flag, Launch
from ddtree_doctor.launch.typing import typed

__all__ = ["FIELDS", "launch_object", "resolved_object"]

FIELDS: dict[str, tuple[str, ...]] = {
    "algorithm": ("speculative_algorithm",),
    "num_draft_tokens": ("speculative_num_draft_tokens",),
    "num_steps": ("speculative_num_steps",),
    "topk": ("speculative_eagle_topk",),
    "budget": ("speculative_ddtree_budget", "speculative_dflash_tree_budget"),
    "block_size": ("speculative_ddtree_block_size", "speculative_dflash_block_size", "speculative_dspark_block_size"),
    "tp": ("tp_size",),
    "dp": ("dp_size",),
    "attention_backend": ("attention_backend",),
    "page_size": ("page_size",),
    "max_running_requests": ("max_running_requests",),
    "cuda_graph_max_bs": ("cuda_graph_max_bs_decode", "cuda_graph_max_bs"),
    "model": ("model_path",),
    "draft_model": ("speculative_draft_model_path",),
}
"""Report key → the engine fields that may carry it, the first that the launch gives."""


def launch_object(launch: Launch, engine: Engine) -> dict[str, Any]:
    """What the launch gives, `null` where it gives nothing (DESIGN: report object, `launches`)."""
    given, unknown = _given(launch, engine)
    return {
        "command": launch.command,
        "file": launch.location.file,
        "line": launch.location.line,
        **given,
        "unknown": unknown,
        "as_intended": _difference(launch, engine, given),
    }


def resolved_object(settings: Settings) -> dict[str, Any]:
    """Every setting after defaults, configs and the algorithm's rules: its value and where that comes from."""
    return {
        name: {"value": value.value, "origin": value.origin, "why": value.why}
        for name in Settings.__dataclass_fields__
        if isinstance(value := getattr(settings, name), Value)
    }


def _given(launch: Launch, engine: Engine) -> tuple[dict[str, Any], dict[str, str]]:
    """Report key → value given, and report key → why it cannot be known."""
    values = {key: _value(_flag(launch, names), engine) for key, names in FIELDS.items()}
    unknown = {key: value.why for key, value in values.items() if value is not None and not value.known}
    return {key: value.value if value is not None else None for key, value in values.items()}, unknown


def _flag(launch: Launch, names: Sequence[str]) -> Flag | None:
    return next((flag for name in names if (flag := launch.flag(name))), None)


def _value(flag: Flag | None, engine: Engine) -> Value[Any] | None:
    return None if flag is None else typed(flag, engine.option(flag.name or ""))


def _difference(launch: Launch, engine: Engine, given: dict[str, Any]) -> dict[str, Any]:
    if launch.intended is None:
        return {}
    meant, _ = _given(launch.intended, engine)
    changed = {key: value for key, value in meant.items() if value != given[key]}
    return {"command": launch.intended.command, **changed}
