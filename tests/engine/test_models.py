"""Tiny checkpoints: the launch's numbers in them, and nothing else changed."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.engine.models import CHECKPOINTS, Numbers, checkpoints, fitted, written
from ddtree_doctor.engine.roles import ROLES

TINY = resources.files("ddtree_doctor.fixtures") / "models" / "tiny"
NAMES = sorted(entry.name for entry in TINY.iterdir() if (entry / "config.json").is_file())
CONFIGS = {name: json.loads((TINY / name / "config.json").read_text()) for name in NAMES}
NUMBERS = st.builds(
    Numbers,
    tp=st.sampled_from([1, 2, 4, 8, 16, 32]),
    heads_tp=st.sampled_from([1, 2, 4, 8, 16, 32]),
    context=st.integers(1, 1 << 20),
    block=st.none() | st.integers(1, 64),
    drafts=st.none() | st.integers(1, 16),
)


def test_every_algorithm_with_a_role_has_checkpoints_that_are_there():
    assert set(CHECKPOINTS) == set(ROLES)
    for each in CHECKPOINTS.values():
        assert all((TINY / name).is_dir() for name in (each.target, each.draft, each.adapter) if name)


def test_an_algorithm_without_checkpoints_has_none():
    assert checkpoints("SOMETHING_NEW") is None


@pytest.mark.parametrize("name", NAMES)
def test_default_numbers_change_nothing(name: str):
    assert fitted(CONFIGS[name], Numbers()) == CONFIGS[name]


@given(st.sampled_from(NAMES), NUMBERS)
def test_every_rank_gets_whole_heads_and_as_many_as_a_lone_one(name: str, numbers: Numbers):
    config, before = (each.get("text_config", each) for each in (fitted(CONFIGS[name], numbers), CONFIGS[name]))
    for key in ("num_attention_heads", "num_key_value_heads"):
        assert config[key] == before[key] * numbers.heads_tp
    assert config["intermediate_size"] % numbers.tp == 0
    assert config["vocab_size"] % numbers.tp == 0
    assert config["max_position_embeddings"] >= 2 * numbers.context


@given(st.integers(1, 64))
def test_the_block_is_the_launchs(block: int):
    assert fitted(CONFIGS["dflash"], Numbers(block=block))["block_size"] == block


def test_a_written_checkpoint_is_a_copy_under_the_folder(tmp_path: Path):
    target = written("dflash", Numbers(block=5), tmp_path)
    assert target.parent == tmp_path
    assert json.loads((target / "config.json").read_text())["block_size"] == 5
    assert CONFIGS["dflash"]["block_size"] == 8


@pytest.mark.parametrize("name", NAMES)
def test_lean_models_have_half_the_heads_and_two_layers_at_most(name: str):
    lean, config = fitted(CONFIGS[name], Numbers(lean=True)), CONFIGS[name]
    for key in ("num_attention_heads", "num_key_value_heads"):
        assert key not in config or lean[key] == config[key] // 2
    assert lean.get("num_hidden_layers", 2) <= 2
    assert lean.get("hidden_size") == config.get("hidden_size")


def test_lean_drafters_read_as_many_features_as_a_lean_target_hands_out():
    for name in ("dflash", "dspark"):
        lean = fitted(CONFIGS[name], Numbers(lean=True))
        assert max(lean["dflash_config"]["target_layer_ids"]) < lean["num_target_layers"] - 1
    eagle3 = fitted(CONFIGS["eagle3"], Numbers(lean=True))
    assert len(eagle3["eagle_config"]["eagle_aux_hidden_state_layer_ids"]) == eagle3["num_aux_hidden_states"]
