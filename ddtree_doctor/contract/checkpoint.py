"""What settings need from a checkpoint's config.json, read with suspicion: a config is input from outside."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from ddtree_doctor.facts.model import Facts, ModelConfig
from ddtree_doctor.knowledge import NotKnown

__all__ = [
    "MTP_ASSISTANTS",
    "architecture",
    "block_size",
    "context",
    "draft_or_missing",
    "multi_head_latent",
    "names",
    "whole",
]

MTP_ASSISTANTS = ("Gemma4AssistantForCausalLM", "Gemma4UnifiedAssistantForCausalLM")
"""Draft architectures for which EAGLE and NEXTN mean FROZEN_KV_MTP."""

CONTEXT_KEYS = ("max_sequence_length", "seq_length", "max_seq_len", "model_max_length", "max_position_embeddings")
LARGEST = 1 << 40


def whole(config: ModelConfig, *keys: str) -> int:
    """The first of `keys` that the config holds, a positive whole number. Raises NotKnown otherwise."""
    found = config.need(*keys)
    if isinstance(found, bool) or not isinstance(found, int) or not 1 <= found <= LARGEST:
        raise NotKnown(f"{keys[0]} of {config.name}", f"config.json holds {found!r:.60}, not a positive whole number")
    return found


def architecture(config: ModelConfig) -> str:
    """The first entry of `architectures`. Raises NotKnown where the config or the entry is missing."""
    found = config.need("architectures")
    if not isinstance(found, list) or not found or not isinstance(found[0], str):
        raise NotKnown(f"architectures of {config.name}", f"config.json holds {found!r:.60}, not a list of names")
    return found[0]


def names(config: ModelConfig | None, key: str) -> tuple[str, ...]:
    """The words of the list at `key`; empty where the config has no such list."""
    found = None if config is None else config.get(key)
    return tuple(map(str, found)) if isinstance(found, list) else ()


def draft_or_missing(facts: Facts) -> ModelConfig:
    """The draft's config. Raises NotKnown where the launch names no draft model."""
    if facts.draft is None:
        raise NotKnown("draft model", "the launch names none")
    return facts.draft


def block_size(draft: ModelConfig) -> int | None:
    """The block size that a DFLASH family checkpoint was trained with, None where its config states none.

    Raises NotKnown where the config is missing or holds nonsense.
    """
    keys = ("dspark_block_size", "dflash_config.block_size", "block_size")
    if draft.unknown:
        raise NotKnown(f"config of {draft.name}", draft.unknown)
    return whole(draft, *keys) if any(draft.get(key) is not None for key in keys) else None


def context(config: ModelConfig) -> int:
    """The longest sequence the checkpoint is made for, as SGLang derives it: positions × rope scaling factor.

    The factor counts only where the config does not state the positions before scaling, and never for llama3.
    """
    positions = whole(config, *CONTEXT_KEYS)
    scaling = config.get("rope_scaling")
    if not isinstance(scaling, Mapping) or not scaling:
        return positions
    if "original_max_position_embeddings" in scaling or scaling.get("rope_type") == "llama3":
        return positions
    return int(positions * _factor(config, scaling))


def _factor(config: ModelConfig, scaling: Mapping[str, Any]) -> float:
    factor = scaling.get("factor", 1)
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not isfinite(factor) or not 0 < factor <= 1e6:
        raise NotKnown(f"rope_scaling of {config.name}", f"its factor is {factor!r:.40}, not a positive number")
    return float(factor)


def multi_head_latent(config: ModelConfig) -> bool:
    """Whether the model attends in a latent space (MLA): its config has a `kv_lora_rank`."""
    if config.unknown:
        raise NotKnown(f"config of {config.name}", config.unknown)
    return config.get("kv_lora_rank") is not None
