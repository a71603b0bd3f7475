"""Tiny checkpoints for every algorithm: which to start, and the launch's own numbers written into their configs.

What a graph's shapes hang on is the launch's: block size, drafts, ranks, context. What they do not hang on is tiny:
layers, hidden size, vocabulary. Heads grow with the ranks, so that every rank keeps as many as a lone one has.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

__all__ = ["CHECKPOINTS", "Checkpoints", "Numbers", "adapter_written", "checkpoints", "written"]

Config = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """What a launch decides about its checkpoints. None where it is not known: the tiny config's own value stays.

    `tp` is the tensor-parallel size and `heads_tp` the part of it that shares one request's attention, `context` tokens
    of a sequence, `block` the drafter's block in tokens, `drafts` how many prediction layers a checkpoint holds. `lean`
    asks for the fewest heads and layers in which attention over a cache still shows: Triton's interpreter takes its
    time for each head of each layer. `gpu` asks for the sizes that kernels for GPUs are built for: heads of 128, and
    rows that vector loads divide.
    """

    tp: int = 1
    heads_tp: int = 1
    context: int = 512
    block: int | None = None
    drafts: int | None = None
    lean: bool = False
    gpu: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoints:
    """The folders under `fixtures/models/tiny` that an algorithm needs.

    `draft` is None where the draft needs no checkpoint of its own, `adapter` a LoRA adapter where it needs one.
    `options` are engine fields without which it refuses to resolve.
    """

    target: str = "target"
    draft: str | None = None
    adapter: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


CHECKPOINTS: Mapping[str, Checkpoints] = {
    "NONE": Checkpoints(),
    "NGRAM": Checkpoints(),
    "EAGLE": Checkpoints(draft="eagle"),
    "EAGLE3": Checkpoints(draft="eagle3"),
    "STANDALONE": Checkpoints(draft="standalone"),
    "DFLASH": Checkpoints(draft="dflash"),
    "DDTREE": Checkpoints(draft="dflash"),
    "DSPARK": Checkpoints(draft="dspark"),
    "FROZEN_KV_MTP": Checkpoints(target="target-gemma4", draft="frozen-kv-mtp"),
    "MULTI_LAYER_EAGLE": Checkpoints(target="target-multi-layer-mtp", draft="target-multi-layer-mtp"),
    "UNO": Checkpoints(adapter="uno-lora", options={"attention_backend": "fa3", "load_format": "auto"}),
}
"""Algorithm → checkpoints. MULTI_LAYER_EAGLE is EAGLE with one draft layer a step."""


def checkpoints(algorithm: str) -> Checkpoints | None:
    """The checkpoints of `algorithm`, None where no tiny ones can be made."""
    return CHECKPOINTS.get(algorithm)


def written(name: str, numbers: Numbers, folder: Path) -> Path:
    """A copy of the tiny checkpoint `name` under `folder`, with the launch's numbers in it."""
    source = resources.files("ddtree_doctor.fixtures") / "models" / "tiny" / name
    config = json.loads((source / "config.json").read_text())
    target = folder / name
    target.mkdir(exist_ok=True)
    (target / "config.json").write_text(json.dumps(fitted(config, numbers), indent=2))
    return target


def adapter_written(name: str, base: Path, folder: Path) -> Path:
    """The LoRA adapter `name` under `folder`, for the checkpoint at `base`; both get random weights.

    SGLang makes up weights of a model, but not those of an adapter, nor those of the model that has one.
    """
    import torch
    from safetensors.torch import save_file
    from transformers import AutoConfig, AutoModelForCausalLM

    AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(base)).save_pretrained(base)

    source = resources.files("ddtree_doctor.fixtures") / "models" / "tiny" / name
    adapter = json.loads((source / "adapter_config.json").read_text())
    model = json.loads((base / "config.json").read_text())
    target = folder / name
    target.mkdir(exist_ok=True)
    (target / "adapter_config.json").write_text(json.dumps(adapter))
    hidden, head = model["hidden_size"], model["head_dim"]
    heads, kv_heads = model["num_attention_heads"] * head, model["num_key_value_heads"] * head
    ends = {
        "q_proj": (hidden, heads),
        "k_proj": (hidden, kv_heads),
        "v_proj": (hidden, kv_heads),
        "o_proj": (heads, hidden),
    }
    weights = {}
    for layer in range(model["num_hidden_layers"]):
        for module in adapter["target_modules"]:
            into, out = ends[module]
            prefix = f"base_model.model.model.layers.{layer}.self_attn.{module}"
            weights[f"{prefix}.lora_A.weight"] = torch.randn(adapter["r"], into)
            weights[f"{prefix}.lora_B.weight"] = torch.randn(out, adapter["r"])
    save_file(weights, target / "adapter_model.safetensors")
    return target


def fitted(config: Config, numbers: Numbers) -> Config:
    """`config` with the launch's numbers in it, in nested configs too."""
    changed = {key: fitted(value, numbers) if key in _NESTED else value for key, value in config.items()}
    return {key: _FIT[key](value, numbers) if key in _FIT else value for key, value in changed.items()}


_NESTED = ("text_config", "dflash_config", "eagle_config")


def _per_rank(value: int, numbers: Numbers) -> int:
    return value * numbers.tp


def _heads(value: int, numbers: Numbers) -> int:
    return (value // 2 if numbers.lean else value) * numbers.heads_tp


def _layers(value: int, numbers: Numbers) -> int:
    """Two layers when lean: the second one's keys depend on what the first attended to."""
    return min(value, 2) if numbers.lean else value


def _features(value: list[int], numbers: Numbers) -> list[int]:
    """The target's layers that hand features to the drafter: of two layers only the first can."""
    return value[:1] if numbers.lean else value


_FIT: Mapping[str, Callable[[Any, Numbers], Any]] = {
    "num_attention_heads": _heads,
    "num_key_value_heads": _heads,
    "swa_num_attention_heads": _heads,
    "swa_num_key_value_heads": _heads,
    "intermediate_size": _per_rank,
    "num_hidden_layers": _layers,
    "num_target_layers": _layers,
    "target_layer_ids": _features,
    "eagle_aux_hidden_state_layer_ids": _features,
    "num_aux_hidden_states": lambda value, numbers: min(value, 1) if numbers.lean else value,
    "vocab_size": lambda value, numbers: max(value, 64 * numbers.tp),
    "draft_vocab_size": lambda value, numbers: max(value, 64 * numbers.tp),
    "head_dim": lambda value, numbers: 128 if numbers.gpu else value,
    "hidden_size": lambda value, numbers: 256 if numbers.gpu else value,
    "max_position_embeddings": lambda value, numbers: max(value, 2 * numbers.context),
    "block_size": lambda value, numbers: value if numbers.block is None else numbers.block,
    "num_nextn_predict_layers": lambda value, numbers: value if numbers.drafts is None else numbers.drafts,
}
"""Config key → its value for a launch."""
