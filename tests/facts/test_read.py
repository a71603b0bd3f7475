import json

import pytest

from ddtree_doctor.errors import UsageError
from ddtree_doctor.facts.model import Engine, Host
from ddtree_doctor.facts.read import read_facts
from ddtree_doctor.launch.model import Flag, Launch, Location

HOST = Host(python="3.12", platform="linux x86_64")
ENGINE = Engine(version="0.5.23")


@pytest.fixture(autouse=True)
def _empty_hub(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))


def launch(file=None, **flags):
    given = tuple(Flag(option=f"--{name}", name=name, values=(value,)) for name, value in flags.items())
    return Launch(command="sglang serve", flags=given, location=Location(file=file))


def config(folder, **values):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(values))
    return str(folder)


def test_target_and_draft_are_those_that_the_launch_names(tmp_path):
    target, draft = config(tmp_path / "t", hidden_size=1), config(tmp_path / "d", hidden_size=2)
    facts = read_facts(launch(model_path=target, speculative_draft_model_path=draft), HOST, ENGINE)
    assert (facts.target.values, facts.draft.values) == ({"hidden_size": 1}, {"hidden_size": 2})
    assert (facts.host, facts.engine) == (HOST, ENGINE)


def test_a_launch_without_a_draft_has_none():
    assert read_facts(launch(model_path="Qwen/none"), HOST, ENGINE).draft is None


def test_a_relative_path_starts_from_the_launch_file_and_then_from_here(tmp_path, monkeypatch):
    config(tmp_path / "scripts/models/t", hidden_size=1)
    config(tmp_path / "here/models/d", hidden_size=2)
    monkeypatch.chdir(tmp_path / "here")
    given = launch(str(tmp_path / "scripts/run.sh"), model_path="models/t", speculative_draft_model_path="models/d")
    facts = read_facts(given, HOST, ENGINE)
    assert (facts.target.values, facts.draft.values) == ({"hidden_size": 1}, {"hidden_size": 2})


def test_a_bad_config_beside_the_launch_is_not_passed_over(tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m/config.json").write_text("{")
    facts = read_facts(launch(str(tmp_path / "run.sh"), model_path="m"), HOST, ENGINE)
    assert "cannot be used" in facts.target.unknown


def test_configs_that_the_user_named_win_and_need_no_flag(tmp_path):
    target, draft = config(tmp_path / "t", hidden_size=1), config(tmp_path / "d", hidden_size=2)
    facts = read_facts(launch(), HOST, ENGINE, target_config=target, draft_config=draft)
    assert (facts.target.name, facts.target.values) == ("target", {"hidden_size": 1})
    assert (facts.draft.name, facts.draft.values) == ("draft", {"hidden_size": 2})


def test_a_named_config_that_cannot_be_used_is_a_usage_error():
    with pytest.raises(UsageError):
        read_facts(launch(model_path="Qwen/none"), HOST, ENGINE, target_config="/nonexistent.json")


def test_what_the_launch_overrides_is_applied_to_both_models(tmp_path):
    target, draft = config(tmp_path / "t", hidden_size=1), config(tmp_path / "d", hidden_size=2)
    given = launch(model_path=target, speculative_draft_model_path=draft, json_model_override_args='{"vocab_size": 9}')
    facts = read_facts(given, HOST, ENGINE)
    assert facts.target.values == {"hidden_size": 1, "vocab_size": 9}
    assert facts.draft.values == {"hidden_size": 2, "vocab_size": 9}


def test_what_the_launch_does_not_tell_is_unknown_with_its_reason():
    assert "names no model" in read_facts(launch(), HOST, ENGINE).target.unknown
    unset = Flag(option="--model-path", name="model_path", values=("$MODEL",), unknown="MODEL is not set in this file")
    facts = read_facts(Launch(command="x", flags=(unset,)), HOST, ENGINE)
    assert facts.target.unknown == "MODEL is not set in this file"
    switch = Flag(option="--model-path", name="model_path")
    assert "has no value" in read_facts(Launch(command="x", flags=(switch,)), HOST, ENGINE).target.unknown
