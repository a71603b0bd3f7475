import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ddtree_doctor.facts import dimensions
from ddtree_doctor.facts.dimensions import LARGEST_SIZE, SIZES
from ddtree_doctor.facts.model import ModelConfig
from ddtree_doctor.knowledge import NotKnown, Value
from tests.facts.test_config_text import JSON_VALUES

ACCESSORS = [getattr(dimensions, name) for name in dimensions.__all__ if name not in ("SIZES", "LARGEST_SIZE")]
ACCESSORS = [a for a in ACCESSORS if a not in (dimensions.size_fault, dimensions.text_values, dimensions.architectures)]
KEYS = [
    *SIZES,
    "rope_scaling",
    "dflash_config",
    "text_config",
    "thinker_config",
    "layer_types",
    "head_dim",
    "eagle_config",
]
KEYS += ["num_key_value_heads", "num_attention_heads", "target_layer_ids", "kv_lora_rank", "linear_attn_config"]


def model(**values):
    return ModelConfig(name="m", values=values)


def test_sizes_are_read_from_a_dense_model():
    config = model(
        hidden_size=4096, vocab_size=151936, num_hidden_layers=36, num_attention_heads=32, num_key_value_heads=8
    )
    assert dimensions.hidden_size(config).need() == 4096
    assert dimensions.vocab_size(config).need() == 151936
    assert dimensions.layers(config).need() == 36
    assert dimensions.kv_heads(config).need() == 8
    assert dimensions.head_dim(config) == Value(name="head_dim of m", value=128, origin="derived")


@pytest.mark.parametrize("holder", ["text_config", "llm_config", "language_config", "thinker_config"])
def test_the_language_model_of_a_multimodal_config_comes_before_the_whole(holder):
    assert dimensions.hidden_size(model(hidden_size=1, **{holder: {"hidden_size": 7168}})).need() == 7168


def test_the_talker_inside_a_thinker_is_reached():
    config = model(thinker_config={"hidden_size": 1, "text_config": {"hidden_size": 2048}})
    assert dimensions.hidden_size(config).need() == 2048


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"max_position_embeddings": 4096}, 4096),
        ({"max_position_embeddings": 4096, "rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, 16384),
        ({"max_position_embeddings": 4096, "rope_scaling": {"type": "linear", "factor": 2}}, 8192),
        (
            {
                "max_position_embeddings": 131072,
                "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
            },
            131072,
        ),
        ({"max_position_embeddings": 131072, "rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, 131072),
        ({"max_position_embeddings": 4096, "rope_scaling": None}, 4096),
        ({"seq_length": 8192, "max_position_embeddings": 4096}, 8192),
        ({}, 2048),
    ],
)
def test_the_context_length_follows_the_engines_rule(values, expected):
    assert dimensions.context_length(model(**values)).need() == expected


@pytest.mark.parametrize("factor", ["4", -1, 0, 1e300, True, [4]])
def test_a_scaling_factor_that_is_none_leaves_the_context_unknown(factor):
    context = dimensions.context_length(model(max_position_embeddings=4096, rope_scaling={"factor": factor}))
    assert not context.known
    assert "rope_scaling.factor" in context.why


def test_the_block_of_a_dflash_draft_is_read_inside_its_own_config_first():
    assert dimensions.block_size(model(block_size=8, dflash_config={"block_size": 16})).need() == 16
    assert dimensions.block_size(model(block_size=8)).need() == 8
    unset = dimensions.block_size(model())
    assert unset.known
    assert unset.value is None


def test_target_layers_are_read_from_dflash_and_eagle3_drafts():
    assert dimensions.target_layer_ids(model(dflash_config={"target_layer_ids": [1, 9]})).need() == (1, 9)
    eagle = model(eagle_config={"eagle_aux_hidden_state_layer_ids": [2, 18, 33]})
    assert dimensions.target_layer_ids(eagle).need() == (2, 18, 33)
    assert not dimensions.target_layer_ids(model(target_layer_ids=[1, "2"])).known


def test_a_draft_without_a_vocabulary_of_its_own_has_the_models():
    assert dimensions.draft_vocab_size(model(vocab_size=128256)).need() == 128256
    assert dimensions.draft_vocab_size(model(vocab_size=128256, draft_vocab_size=32000)).need() == 32000


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({"linear_num_value_heads": 32, "layer_types": ["linear_attention", "full_attention"]}, "gdn"),
        ({"linear_attn_config": {"kda_layers": [1]}}, "kda"),
        ({"mamba_num_heads": 128}, "mamba2"),
        ({"layer_types": ["linear_attention"]}, "linear"),
        ({"layer_types": ["sliding_attention", "full_attention"]}, "none"),
        ({}, "none"),
    ],
)
def test_recurrent_layers_are_told_by_their_keys(values, kind):
    assert dimensions.linear_attention(model(**values)).need() == kind


def test_latent_attention_is_told_by_its_rank():
    assert dimensions.latent_attention(model(kv_lora_rank=512)).need() is True
    assert dimensions.latent_attention(model()).need() is False


def test_what_is_missing_is_named_with_its_model():
    with pytest.raises(NotKnown, match=r"vocab_size of m: config\.json holds none of vocab_size"):
        dimensions.vocab_size(model()).need()
    unread = ModelConfig(name="m", unknown="no config.json of 'm'")
    for accessor in ACCESSORS:
        assert accessor(unread).why == "no config.json of 'm'"


@given(
    st.dictionaries(
        st.sampled_from(KEYS), JSON_VALUES | st.dictionaries(st.sampled_from(KEYS), JSON_VALUES), max_size=8
    )
)
@example({"head_dim": None, "hidden_size": 3, "num_attention_heads": 5})
@example({"max_position_embeddings": 2**31 - 1, "rope_scaling": {"factor": 2.0}})
def test_no_config_makes_an_accessor_raise_or_give_a_size_out_of_range(values):
    config = ModelConfig(name="m", values=values)
    dimensions.architectures(config)
    for accessor in ACCESSORS:
        found = accessor(config)
        assert found.known or found.why
        if type(found.value) is int:
            assert 1 <= found.value <= LARGEST_SIZE


@pytest.mark.engine
@pytest.mark.slow
def test_the_context_length_is_the_one_the_engine_derives():
    cases = [
        {"max_position_embeddings": 4096},
        {"max_position_embeddings": 4096, "rope_scaling": {"rope_type": "yarn", "factor": 4.0}},
        {"max_position_embeddings": 40960, "rope_scaling": {"rope_type": "linear", "factor": 2.5}},
        {
            "max_position_embeddings": 131072,
            "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
        },
        {
            "max_position_embeddings": 131072,
            "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
        },
        {"max_position_embeddings": 8192, "seq_length": 4096},
        {},
    ]
    code = (
        "import sys; from types import SimpleNamespace as N;"
        "from sglang.srt.utils.hf_transformers.common import get_context_length;"
        "print([get_context_length(N(**case)) for case in eval(sys.argv[1])])"
    )
    answer = subprocess.run([sys.executable, "-c", code, repr(cases)], check=True, capture_output=True, text=True)
    assert eval(answer.stdout.splitlines()[-1]) == [dimensions.context_length(model(**case)).value for case in cases]
