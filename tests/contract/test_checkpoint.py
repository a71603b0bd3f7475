from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given

from ddtree_doctor.contract.checkpoint import architecture, block_size, context, multi_head_latent, whole
from ddtree_doctor.facts.model import ModelConfig
from ddtree_doctor.knowledge import NotKnown
from tests.strategies import JSON


def config(**values: Any) -> ModelConfig:
    return ModelConfig(name="m", values=values)


@pytest.mark.parametrize("bad", ["8", 8.0, True, 0, -8, math.nan, [8], {"a": 8}, 1 << 80])
def test_only_a_positive_whole_number_is_one(bad: Any) -> None:
    with pytest.raises(NotKnown, match=r"block_size of m.*not a positive whole number"):
        whole(config(block_size=bad), "block_size")


@pytest.mark.parametrize(
    ("values", "block"),
    [
        ({"block_size": 8}, 8),
        ({"dflash_config": {"block_size": 16}, "block_size": 8}, 16),
        ({"dspark_block_size": 7, "block_size": 8}, 7),
        ({"text_config": {"block_size": 4}}, 4),
        ({"dflash_config": {}}, None),
    ],
)
def test_the_block_size_is_where_checkpoints_keep_it(values: dict[str, Any], block: int | None) -> None:
    assert block_size(config(**values)) == block


@pytest.mark.parametrize(
    ("values", "length"),
    [
        ({"max_position_embeddings": 4096}, 4096),
        ({"max_position_embeddings": 4096, "rope_scaling": {"factor": 4}}, 16384),
        ({"max_position_embeddings": 4096, "rope_scaling": {"factor": 8, "rope_type": "llama3"}}, 4096),
        ({"max_position_embeddings": 4096, "rope_scaling": {"factor": 8, "original_max_position_embeddings": 1}}, 4096),
        ({"max_position_embeddings": 4096, "seq_length": 8192}, 8192),
        ({"text_config": {"max_position_embeddings": 2048}}, 2048),
    ],
)
def test_the_context_is_positions_times_scaling(values: dict[str, Any], length: int) -> None:
    assert context(config(**values)) == length


@pytest.mark.parametrize("factor", [0, -1, math.nan, math.inf, 1e300, "4", None, True])
def test_a_scaling_factor_must_be_a_sane_number(factor: Any) -> None:
    with pytest.raises(NotKnown, match="factor"):
        context(config(max_position_embeddings=4096, rope_scaling={"factor": factor}))


def test_a_latent_model_has_a_rank_of_its_cache() -> None:
    assert multi_head_latent(config(kv_lora_rank=512))
    assert not multi_head_latent(config(hidden_size=64))


@given(JSON, JSON, JSON)
def test_hostile_configs_raise_not_known_and_nothing_else(a: Any, b: Any, c: Any) -> None:
    found = config(architectures=a, block_size=b, dflash_config=c, max_position_embeddings=b, rope_scaling=c)
    for read in (architecture, block_size, context, multi_head_latent):
        with suppress(NotKnown):
            read(found)
