import io
import json
import sys

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ddtree_doctor.contract.build import build
from ddtree_doctor.errors import UsageError
from ddtree_doctor.facts.bundle import SCHEMA, bundle_of, read_bundle, read_bundle_file
from ddtree_doctor.facts.model import Engine, Facts, Host, ModelConfig
from ddtree_doctor.launch.model import Flag, Launch, Location
from ddtree_doctor.ledger import Ledger, Row
from ddtree_doctor.rule import Case
from tests.facts.strategies import ENGINES, FACTS, LEDGERS
from tests.facts.test_config_text import JSON_VALUES

LAUNCH = Launch(
    command="python -m sglang.launch_server --model-path Qwen/Qwen3-8B",
    flags=(Flag(option="--model-path", name="model_path", values=("Qwen/Qwen3-8B",)),),
)
FACTS_OF_ONE = Facts(
    host=Host(python="3.12", platform="linux x86_64"),
    engine=Engine(version="0.5.23", traits={"small_gpu_max_bs": (48, 160)}),
    launch=LAUNCH,
    target=ModelConfig(name="Qwen/Qwen3-8B", values={"hidden_size": 4096}),
)


def case(facts=FACTS_OF_ONE, ledger=None):
    return Case(facts=facts, contract=build(FACTS_OF_ONE), ledger=ledger)


@given(FACTS, st.lists(st.none() | LEDGERS, min_size=1, max_size=2))
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_facts_and_ledgers_go_to_json_and_back_unchanged(facts, ledgers):
    bundle = bundle_of([case(facts, ledger) for ledger in ledgers], tier="shape")
    again = read_bundle(bundle.to_json().encode())
    assert again == bundle
    assert again.to_json() == bundle.to_json()
    assert again.digest() == bundle.digest()


@given(ENGINES)
@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
def test_bundling_what_was_bundled_changes_nothing(engine):
    bundle = bundle_of([case(Facts(host=FACTS_OF_ONE.host, engine=engine, launch=LAUNCH, target=FACTS_OF_ONE.target))])
    assert bundle_of(bundle_cases(bundle)) == bundle


def bundle_cases(bundle):
    return [case(facts, ledger) for facts, ledger in zip(bundle.facts(), bundle.ledgers, strict=True)]


def test_the_cases_of_a_bundle_are_those_it_was_made_of():
    ledger = Ledger(algorithm="NONE", rows=(Row(algorithm="NONE", role="decode", tokens_per_bs=1, capture_bs=(1, 2)),))
    bundle = bundle_of([case(ledger=ledger), case()], tier="shape")
    cases = read_bundle(bundle.to_json().encode()).cases()
    assert [one.ledger for one in cases] == [ledger, None]
    assert [one.facts for one in cases] == [FACTS_OF_ONE, FACTS_OF_ONE]
    assert cases[0].contract == build(FACTS_OF_ONE)
    assert bundle.tier == "shape"


def test_open_values_that_json_does_not_have_are_written_as_it_has_them():
    ledger = Ledger(algorithm="NONE", resolved={"a": (1, 2), "b": {3, 1}, "c": float("inf"), 4: Path}, sizes={})
    (kept,) = bundle_of([case(ledger=ledger)]).ledgers
    assert kept.resolved == {"a": [1, 2], "b": [1, 3], "c": "inf", "4": str(Path)}


class Path:
    """Something no JSON has."""


def test_whole_seconds_come_back_as_the_same_text():
    bundle = bundle_of([case(ledger=Ledger(algorithm="NONE", seconds=3))])
    assert read_bundle(bundle.to_json().encode()).to_json() == bundle.to_json()


def test_the_home_directory_is_shown_as_a_tilde_in_every_text(monkeypatch):
    monkeypatch.setenv("HOME", "/home/anna")
    model = ModelConfig(name="/home/anna/models/q", path="/home/anna/models/q/config.json", unknown="/home/anna: no")
    launch = Launch(command="--model-path=/home/anna/q", location=Location(file="/home/anna/run.sh"))
    host = Host(python="3", platform="linux", unknown={"/home/anna": "/home/annabel /mnt/home/anna /home/anna"})
    facts = Facts(host=host, engine=Engine(root="/home/anna/sglang"), launch=launch, target=model)
    text = bundle_of([case(facts)]).to_json()
    assert "home/anna/" not in text
    kept = read_bundle(text.encode())
    assert kept.engine.root == "~/sglang"
    assert kept.launches[0].launch.command == "--model-path=~/q"
    assert kept.host.unknown == {"~": "/home/annabel /mnt/home/anna ~"}


def test_the_digest_does_not_depend_on_the_version_of_the_tool(monkeypatch):
    before = bundle_of([case()]).digest()
    monkeypatch.setattr("ddtree_doctor.facts.bundle.__version__", "9.9")
    assert bundle_of([case()]).digest() == before
    assert bundle_of([case()], tier="shape").digest() != before


GOOD = json.loads(bundle_of([case()]).to_json())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"schema": "ddtree-doctor/facts/2"}, "its schema is 'ddtree-doctor/facts/2'"),
        ({"schema": None}, "its schema is 'None'"),
        ({"more": 1}, "more"),
        ({"host": 3}, "host"),
        ({"host": {**GOOD["host"], "python": 3}}, "host.python"),
        ({"host": {**GOOD["host"], "gpus": [{"name": "x", "capability": [9]}]}}, "capability"),
        ({"launches": []}, "0 launches and 1 ledgers"),
        ({"ledgers": [None, None]}, "1 launches and 2 ledgers"),
        ({"options": {"tier": "deep"}}, "its tier is 'deep'"),
        ({"host": {**GOOD["host"], "driver": "\ud800"}}, "cannot be written as UTF-8"),
        ({"engine": {**GOOD["engine"], "mask_references": {"x": 2**70}}}, "beyond 64 bits"),
    ],
)
def test_a_bundle_that_is_not_one_is_a_usage_error_that_names_the_place(change, reason):
    with pytest.raises(UsageError) as refused:
        read_bundle(json.dumps({**GOOD, **change}).encode())
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"\xff\xfe", b'{"schema": NaN}', b"[" * 100_000, b'{"a":' * 100_000, b'{"a": 1e999}', b"0"],
)
def test_bytes_that_are_no_bundle_are_a_usage_error(data):
    with pytest.raises(UsageError, match="give a file that --facts-out of ddtree-doctor wrote"):
        read_bundle(data)


def replaced(value, path, new):
    """`value` with the item at `path` (indices among keys in order) replaced."""
    if not path or not isinstance(value, dict | list) or not value:
        return new
    keys = sorted(value) if isinstance(value, dict) else range(len(value))
    key = list(keys)[path[0] % len(value)]
    changed = value.copy()
    changed[key] = replaced(value[key], path[1:], new)
    return changed


@given(st.lists(st.integers(0, 30), max_size=6), JSON_VALUES)
@example([3], {"launch": {}})
@settings(max_examples=300)
def test_no_damage_to_a_bundle_gives_anything_but_a_bundle_or_a_usage_error(path, new):
    data = json.dumps(replaced(GOOD, path, new)).encode()
    try:
        bundle = read_bundle(data)
    except UsageError:
        return
    assert bundle.schema == SCHEMA
    read_bundle(bundle.to_json().encode())


@given(st.binary(max_size=300))
def test_no_bytes_give_anything_but_a_usage_error(data):
    with pytest.raises(UsageError):
        read_bundle(data)


def test_a_file_and_standard_input_are_read(tmp_path, monkeypatch):
    text = bundle_of([case()]).to_json()
    (tmp_path / "facts.json").write_text(text)
    assert read_bundle_file(str(tmp_path / "facts.json")).to_json() == text
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert read_bundle_file("-").to_json() == text


@pytest.mark.parametrize("path", ["/nonexistent/facts.json", "/", "\0"])
def test_a_file_that_cannot_be_read_is_a_usage_error(path):
    with pytest.raises(UsageError, match="--facts"):
        read_bundle_file(path)
