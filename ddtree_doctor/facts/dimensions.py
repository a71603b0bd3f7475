"""Sizes of a model out of its config.json, each known, known to be unset, or unknown with the reason. Never raises.

Where they stand follows SGLang (`utils/hf_transformers/common.py:get_hf_text_config` and `get_context_length`,
`configs/model_config.py`, `speculative/dflash_utils.py:parse_dflash_draft_config`, `models/llama_eagle3.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from ddtree_doctor.facts.model import ModelConfig
from ddtree_doctor.knowledge import Value

__all__ = [
    "LARGEST_SIZE",
    "SIZES",
    "architectures",
    "attention_heads",
    "block_size",
    "context_length",
    "draft_vocab_size",
    "head_dim",
    "hidden_size",
    "kv_heads",
    "latent_attention",
    "layers",
    "linear_attention",
    "nextn_layers",
    "num_target_layers",
    "size_fault",
    "target_layer_ids",
    "text_values",
    "vocab_size",
]

T = TypeVar("T")

LARGEST_SIZE = 2**31 - 1

SIZES = (
    "hidden_size",
    "vocab_size",
    "num_hidden_layers",
    "max_position_embeddings",
    "draft_vocab_size",
    "block_size",
)
"""Keys that are a positive integer in every config: another value means that the file is corrupt."""

TEXT_HOLDERS = ("thinker_config", "llm_config", "language_config", "text_config")
"""Where multimodal configs keep their language model, in the engine's order of preference."""

_CONTEXT_KEYS = ("max_sequence_length", "seq_length", "max_seq_len", "model_max_length", "max_position_embeddings")
_CONTEXT_IF_NONE = 2048
_KV_HEADS_KEYS = ("n_head_kv", "num_kv_heads", "num_key_value_heads", "multi_query_group_num", "num_attention_groups")
_LINEAR_KEYS = (
    ("kda", ("linear_attn_config", "use_kda")),
    ("gdn", ("linear_num_value_heads", "linear_num_key_heads")),
    ("mamba2", ("mamba_num_heads", "mamba_n_heads", "mamba_d_state", "ssm_state_size", "conv_L_cache")),
    ("lightning", ("attn_type_list", "layer_group_size")),
)


def size_fault(value: Any) -> str:
    """Why `value` is no size (`-3, not an integer from 1 to 2147483647`), "" where it is one or absent."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= LARGEST_SIZE):
        return ""
    return f"{_shown(value)}, not an integer from 1 to {LARGEST_SIZE}"


def text_values(config: ModelConfig) -> Mapping[str, Any]:
    """The part of the config that describes the language model; the whole of it for a model of text alone."""
    for holder in TEXT_HOLDERS:
        found = config.values.get(holder)
        if isinstance(found, Mapping):
            nested = found.get("text_config")
            return nested if holder == "thinker_config" and isinstance(nested, Mapping) else found
    return config.values


def hidden_size(config: ModelConfig) -> Value[int]:
    """Width of a hidden state, elements."""
    return _size(config, "hidden_size", "n_embd", "d_model")


def vocab_size(config: ModelConfig) -> Value[int]:
    """Rows of the embedding, tokens."""
    return _size(config, "vocab_size")


def layers(config: ModelConfig) -> Value[int]:
    """Decoder layers, without next-token-prediction layers."""
    return _size(config, "num_hidden_layers", "n_layer", "num_layers")


def nextn_layers(config: ModelConfig) -> Value[int]:
    """Next-token-prediction (MTP) layers of the checkpoint; known to be unset where it has none."""
    return _optional(config, "num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers")


def attention_heads(config: ModelConfig) -> Value[int]:
    """Query heads of one layer."""
    return _size(config, "num_attention_heads", "n_head")


def kv_heads(config: ModelConfig) -> Value[int]:
    """Key-value heads of one layer; the query heads where the config names none."""
    given = _optional(config, *_KV_HEADS_KEYS, label="num_key_value_heads")
    return attention_heads(config) if given.known and given.value is None else given


def head_dim(config: ModelConfig) -> Value[int]:
    """Elements of one head: `head_dim`, else hidden size over query heads."""
    given = _optional(config, "head_dim")
    if not given.known or given.value is not None:
        return given
    hidden, heads = hidden_size(config), attention_heads(config)
    for part in (hidden, heads):
        if part.value is None:
            return Value(name=given.name, why=part.why)
    return _quotient(given.name, hidden.need(), heads.need())


def context_length(config: ModelConfig) -> Value[int]:
    """The longest sequence, tokens, as SGLang derives it: positions times the RoPE scaling factor.

    A scaling that names its original positions, or of type llama3, leaves `max_position_embeddings` as it is.
    """
    given = _optional(config, *_CONTEXT_KEYS, label="context length")
    if given.known and given.value is None:
        return Value(name=given.name, value=_CONTEXT_IF_NONE, origin="default")
    if given.value is None:
        return given
    return _scaled(config, given.value)


def draft_vocab_size(config: ModelConfig) -> Value[int]:
    """Rows of a draft model's head, tokens; its vocabulary where it has no smaller one."""
    given = _optional(config, "draft_vocab_size")
    return vocab_size(config) if given.known and given.value is None else given


def block_size(config: ModelConfig) -> Value[int]:
    """Block size that a draft checkpoint was trained with; known to be unset where it states none."""
    return _optional(config, "dflash_config.block_size", "block_size")


def num_target_layers(config: ModelConfig) -> Value[int]:
    """Layers of the target that a draft checkpoint was trained for; known to be unset where it states none."""
    return _optional(config, "dflash_config.num_target_layers", "num_target_layers")


def target_layer_ids(config: ModelConfig) -> Value[tuple[int, ...]]:
    """Target layers whose hidden states a draft checkpoint takes; known to be unset where it states none."""
    keys = (
        "dflash_config.target_layer_ids",
        "target_layer_ids",
        "eagle_config.eagle_aux_hidden_state_layer_ids",
        "eagle_aux_hidden_state_layer_ids",
    )
    name = _name("target_layer_ids", config)
    if config.unknown:
        return Value(name=name, why=config.unknown)
    given = _find(config, keys)
    if given is None:
        return _unset(name, keys)
    if isinstance(given, list) and all(_is_int(layer) and -1 <= layer <= LARGEST_SIZE for layer in given):
        return Value(name=name, value=tuple(given), origin="config")
    return Value(name=name, why=f"it is {_shown(given)}, not a list of layer numbers")


def linear_attention(config: ModelConfig) -> Value[str]:
    """The kind of recurrent layers: `kda`, `gdn`, `mamba2`, `lightning`, `linear` (of another kind), `none`."""
    name = _name("linear attention", config)
    if config.unknown:
        return Value(name=name, why=config.unknown)
    for kind, keys in _LINEAR_KEYS:
        if any(_find(config, (key,)) for key in keys):
            return Value(name=name, value=kind, origin="config")
    types = _find(config, ("layer_types",))
    recurrent = isinstance(types, list) and any(kind in ("linear_attention", "mamba", "conv") for kind in types)
    return Value(name=name, value="linear" if recurrent else "none", origin="config")


def latent_attention(config: ModelConfig) -> Value[bool]:
    """Whether the model keeps a compressed latent KV (MLA), told by `kv_lora_rank`."""
    rank = _optional(config, "kv_lora_rank")
    return _recast(rank, _name("latent attention", config), rank.value is not None)


def architectures(config: ModelConfig) -> tuple[str, ...]:
    """The model classes that the config names, those that are text; empty where there are none."""
    named = config.values.get("architectures")
    return tuple(name for name in named if isinstance(name, str)) if isinstance(named, list) else ()


def _quotient(name: str, hidden: int, heads: int) -> Value[int]:
    if heads > hidden:
        return Value(name=name, why=f"a hidden state of {hidden} elements cannot be cut into {heads} heads")
    return Value(name=name, value=hidden // heads, origin="derived")


def _scaled(config: ModelConfig, positions: int) -> Value[int]:
    name = _name("context length", config)
    scaling = _find(config, ("rope_scaling",))
    if not isinstance(scaling, Mapping) or "original_max_position_embeddings" in scaling:
        return Value(name=name, value=positions, origin="config")
    factor = 1 if scaling.get("rope_type") == "llama3" else scaling.get("factor", 1)
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not 0 < factor * positions <= LARGEST_SIZE:
        return Value(name=name, why=f"rope_scaling.factor is {_shown(factor)} for {positions} positions")
    return Value(name=name, value=int(factor * positions), origin="config")


def _size(config: ModelConfig, *keys: str) -> Value[int]:
    found = _optional(config, *keys)
    return Value(name=found.name, why=found.why) if found.value is None else found


def _optional(config: ModelConfig, *keys: str, label: str = "") -> Value[int]:
    name = _name(label or keys[0].rpartition(".")[2], config)
    if config.unknown:
        return Value(name=name, why=config.unknown)
    given = _find(config, keys)
    if given is None:
        return _unset(name, keys)
    if fault := size_fault(given):
        return Value(name=name, why=f"it is {fault}")
    return Value(name=name, value=given, origin="config")


def _find(config: ModelConfig, keys: Sequence[str]) -> Any:
    """The first value that is not null at a dotted key, the language model's part searched before the whole."""
    text = text_values(config)
    for key in keys:
        for root in (text, config.values):
            value: Any = root
            for part in key.split("."):
                value = value.get(part) if isinstance(value, Mapping) else None
            if value is not None:
                return value
    return None


def _unset(name: str, keys: Sequence[str]) -> Value[Any]:
    return Value(name=name, origin="config", why=f"config.json holds none of {', '.join(keys)}")


def _recast(given: Value[int], name: str, value: T) -> Value[T]:
    return Value(name=name, value=value, origin="config") if given.known else Value(name=name, why=given.why)


def _name(what: str, config: ModelConfig) -> str:
    return f"{what} of {config.name}"


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
