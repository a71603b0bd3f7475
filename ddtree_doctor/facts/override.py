"""`--json-model-override-args`: what a launch changes in its models' configs before the engine reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ddtree_doctor.facts.config_text import BadConfig, parse_config
from ddtree_doctor.facts.dimensions import TEXT_HOLDERS
from ddtree_doctor.facts.model import ModelConfig
from ddtree_doctor.launch.model import Launch

__all__ = ["FIELD", "overridden"]

FIELD = "json_model_override_args"


def overridden(config: ModelConfig, launch: Launch) -> ModelConfig:
    """`config` as the engine sees it under `launch`, target and draft alike.

    A key replaces that of the config; an object for the language model's part is merged into it, as in
    `utils/hf_transformers/config.py:get_config`. An override that cannot be read leaves the config unknown.
    """
    flag = launch.flag(FIELD)
    if flag is None or config.unknown:
        return config
    if flag.value is None:
        return replace(config, values={}, unknown=flag.unknown or f"{flag.option} has no value")
    try:
        changes = parse_config(flag.value.encode("utf-8", "replace"))
    except BadConfig as fault:
        return replace(config, values={}, unknown=f"{flag.option} cannot be used: {fault}")
    return replace(config, values={**config.values, **{key: _merged(config, key, changes[key]) for key in changes}})


def _merged(config: ModelConfig, key: str, value: Any) -> Any:
    held = config.values.get(key)
    return {**held, **value} if key in TEXT_HOLDERS and isinstance(held, Mapping) and isinstance(value, dict) else value
