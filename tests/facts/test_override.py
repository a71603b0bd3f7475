import json

import pytest

from ddtree_doctor.facts import dimensions
from ddtree_doctor.facts.model import ModelConfig
from ddtree_doctor.facts.override import FIELD, overridden
from ddtree_doctor.launch.model import Flag, Launch

CONFIG = ModelConfig(
    name="m", values={"max_position_embeddings": 4096, "text_config": {"hidden_size": 8, "vocab_size": 9}}
)


def under(value, unknown=""):
    values = () if value is None else (value,)
    flag = Flag(option="--json-model-override-args", name=FIELD, values=values, unknown=unknown)
    return overridden(CONFIG, Launch(command="x", flags=(flag,)))


def test_a_key_replaces_that_of_the_config():
    flat = ModelConfig(name="m", values={"max_position_embeddings": 4096})
    scaling = json.dumps({"rope_scaling": {"rope_type": "yarn", "factor": 2.0}})
    flag = Flag(option="--json-model-override-args", name=FIELD, values=(scaling,))
    changed = overridden(flat, Launch(command="x", flags=(flag,)))
    assert dimensions.context_length(changed).need() == 8192
    assert dimensions.context_length(flat).need() == 4096


def test_an_object_for_the_language_model_is_merged_into_it():
    assert under('{"text_config": {"hidden_size": 16}}').values["text_config"] == {"hidden_size": 16, "vocab_size": 9}
    assert under('{"other": {"a": 1}}').values["other"] == {"a": 1}


def test_without_the_flag_or_a_config_nothing_changes():
    assert overridden(CONFIG, Launch(command="x")) is CONFIG
    missing = ModelConfig(name="m", unknown="no config.json of 'm'")
    flag = Flag(option="--json-model-override-args", name=FIELD, values=("{}",))
    assert overridden(missing, Launch(command="x", flags=(flag,))) is missing


@pytest.mark.parametrize("value", ["{", "[]", '{"hidden_size": -1}', '{"a": NaN, "a": 1}', "\ud800"])
def test_an_override_that_cannot_be_read_leaves_the_config_unknown(value):
    changed = under(value)
    assert changed.values == {}
    assert changed.unknown.startswith("--json-model-override-args cannot be used: ")


def test_an_override_known_only_at_run_time_is_named():
    assert under("$ARGS", unknown="ARGS is not set in this file").unknown == "ARGS is not set in this file"
    assert under(None).unknown == "--json-model-override-args has no value"
