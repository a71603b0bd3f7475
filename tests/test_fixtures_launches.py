from __future__ import annotations

import datetime
import json
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from ddtree_doctor.contract.model import Settings
from ddtree_doctor.facts.gpus import parse_gpus
from ddtree_doctor.hazards import HAZARDS, parse

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
LAUNCHES, MODELS = FIXTURES / "launches", FIXTURES / "models"
CLEAN = sorted(path for path in LAUNCHES.iterdir() if path.is_file())
FAULTY = sorted((LAUNCHES / "faulty").iterdir())
SHIPPED = CLEAN + FAULTY

PLUGIN_FLAGS = ("--speculative-ddtree-budget", "--speculative-ddtree-block-size")
"""Declared by the doctor's own plugin, absent from the engine's releases."""

SERVERS = (["-m", "sglang.launch_server"], ["sglang", "serve"])
MODEL_FLAGS = ("--model-path", "--model", "--speculative-draft-model-path")
SHAPES = ("--enable-dp-attention", "--nnodes", "--enable-two-batch-overlap", "--disaggregation-mode")
COMMANDS = ("python", "python3", "sglang", "srun", "docker")
URL = re.compile(r"https://[\w.-]+/\S+")

PARSER = """
import argparse, json, sys
from sglang.srt.server_args import ServerArgs

def parsed(words):
    parser = argparse.ArgumentParser(prog="launch")
    ServerArgs.add_cli_args(parser)
    try:
        return sorted(name for name, value in vars(parser.parse_args(words)).items() if value is not None)
    except SystemExit:
        return None

probe = argparse.ArgumentParser(prog="launch")
ServerArgs.add_cli_args(probe)
options = [option for action in probe._actions for option in action.option_strings]
answer = {"parsed": [parsed(words) for words in json.load(sys.stdin)], "options": options,
          "fields": [action.dest for action in probe._actions]}
print("ANSWER" + json.dumps(answer))
"""
"""Asks the installed engine's own argument parser, in a process of its own: importing the engine takes many seconds."""


def ids(path: Path) -> str:
    return path.name


def after_server(words: list[str]) -> list[str] | None:
    """What the server gets of a command's words, None for a command that starts none."""
    starts = (index + 2 for index in range(len(words)) if words[index : index + 2] in SERVERS)
    start = next(starts, None)
    return None if start is None else words[start:]


def as_bash_passes(path: Path, scratch: Path) -> list[list[str]]:
    """Server argument lists of a shell script: bash runs it with programs that only write down their words."""
    for name in COMMANDS:
        stub = scratch / name
        stub.write_text(f'#!/bin/bash\nprintf "%s\\0" {name} "$@" > "{scratch}/$$.words"\n', encoding="utf-8")
        stub.chmod(0o755)
    environment = {"PATH": str(scratch), "HOME": str(scratch), "PWD": str(scratch), "SLURM_JOB_ID": "1234"}
    command = ["/bin/bash", "-c", '. "$0"; wait', str(path)]
    subprocess.run(command, cwd=scratch, env=environment, timeout=60, check=False, capture_output=True)
    runs = [file.read_text(encoding="utf-8").split("\0")[:-1] for file in sorted(scratch.glob("*.words"))]
    return [server for words in runs if (server := after_server(words)) is not None]


def as_unit_passes(path: Path) -> list[list[str]]:
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.removeprefix("ExecStart=") for line in text.splitlines() if line.startswith("ExecStart=")]
    return [server for line in lines if (server := after_server(shlex.split(line))) is not None]


def as_yaml_passes(path: Path) -> list[list[str]]:
    """Server argument lists of a compose file or a Kubernetes manifest."""
    found: list[list[str]] = []

    def walk(node: object) -> None:
        if isinstance(node, list):
            for item in node:
                walk(item)
        elif isinstance(node, dict):
            words = [word for key in ("entrypoint", "command", "args") for word in as_words(node.get(key))]
            if (server := after_server(words)) is not None:
                found.append(server)
            for item in node.values():
                walk(item)

    walk(yaml.safe_load(path.read_text(encoding="utf-8")))
    return found


def as_words(value: object) -> list[str]:
    return shlex.split(value) if isinstance(value, str) else [str(word) for word in value or []]


def servers(path: Path, scratch: Path) -> list[list[str]]:
    if path.suffix == ".yaml":
        return as_yaml_passes(path)
    return as_unit_passes(path) if path.suffix == ".service" else as_bash_passes(path, scratch)


def option_of(word: str) -> str:
    return word.split("=", 1)[0]


def values(words: list[str], *options: str) -> list[str]:
    joined = [word.split("=", 1)[1] for word in words if option_of(word) in options and "=" in word]
    apart = [after for word, after in pairwise(words) if word in options]
    return joined + apart


def without_plugin_flags(words: list[str]) -> list[str]:
    dropped = {at for index, word in enumerate(words) if word in PLUGIN_FLAGS for at in (index, index + 1)}
    return [word for index, word in enumerate(words) if index not in dropped]


def known_only_at_run_time(words: list[str]) -> list[str]:
    """A worker's index that the cluster fills in, as some number: argparse reads an int there."""
    return [re.sub(r"^\$[({]\w+[)}]$", "1", word) for word in words]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The engine's answer for every shipped launch, its options and its fields, asked once."""
    asked = [(path.name, words) for path in SHIPPED for words in servers(path, tmp_path_factory.mktemp("bash"))]
    lists = [known_only_at_run_time(without_plugin_flags(words)) for _, words in asked]
    run = subprocess.run(
        [sys.executable, "-c", PARSER], input=json.dumps(lists), capture_output=True, text=True, timeout=500, check=True
    )
    answer = json.loads(next(line for line in run.stdout.splitlines() if line.startswith("ANSWER"))[6:])
    named = list(zip((name for name, _ in asked), answer["parsed"], strict=True))
    return {**answer, "accepted": [(name, given is not None) for name, given in named]}


def test_the_algorithms_and_shapes_asked_for_are_all_there(tmp_path: Path) -> None:
    seen = set()
    for index, path in enumerate(CLEAN):
        scratch = tmp_path / str(index)
        scratch.mkdir()
        lists = servers(path, scratch)
        algorithms = [values(words, "--speculative-algorithm", "--speculative-algo") or ["none"] for words in lists]
        seen |= {algorithm for given in algorithms for algorithm in given}
        seen |= {word for words in lists for word in words if word in SHAPES}
    assert seen == {
        *("DDTREE", "DFLASH", "DSPARK", "EAGLE", "EAGLE3", "NEXTN", "STANDALONE", "NGRAM", "none"),
        *SHAPES,
    }
    assert {path.suffix for path in CLEAN} == {".sh", ".yaml", ".service", ".slurm"}


@pytest.mark.parametrize("path", SHIPPED, ids=ids)
def test_a_launch_says_where_it_is_from_and_what_was_changed(path: Path) -> None:
    head = path.read_text(encoding="utf-8").split("\n\n")[0]
    sources = re.findall(r"^# Source: (\S+)", head, re.MULTILINE)
    assert sources
    assert all(URL.fullmatch(source) for source in sources)
    (gpus,) = re.findall(r"^# GPUs: (.+)$", head, re.MULTILINE)
    assert all(gpu.capability and gpu.memory_mib for gpu in parse_gpus(gpus))
    assert re.search(r"^# Changed: \S", head, re.MULTILINE)
    assert bool(re.search(r"^# Expected: \S", head, re.MULTILINE)) == (path in FAULTY)


@pytest.mark.parametrize("path", SHIPPED, ids=ids)
def test_a_launch_holds_no_secret(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\bhf_\w{8,}|\bsk-\w{8,}|--api-key|\bHF_TOKEN\b|[Pp]assword", text)


@pytest.mark.parametrize("path", SHIPPED, ids=ids)
def test_every_model_named_has_its_config(path: Path, tmp_path: Path) -> None:
    lists = servers(path, tmp_path)
    assert lists
    sources = json.loads((MODELS / "SOURCES.json").read_text(encoding="utf-8"))
    for words in lists:
        names = values(words, *MODEL_FLAGS)
        assert names
        for name in names:
            assert name in sources
            assert (MODELS / name.replace("/", "--") / "config.json").is_file()


def test_two_launches_stand_in_one_file(tmp_path: Path) -> None:
    lists = servers(LAUNCHES / "pd-eagle-deepseek-r1.sh", tmp_path)
    assert sorted(values(words, "--disaggregation-mode")[0] for words in lists) == ["decode", "prefill"]


def test_the_pair_that_the_engine_refuses_differs_in_vocabulary_and_the_clean_one_does_not(tmp_path: Path) -> None:
    faulty, clean = LAUNCHES / "faulty" / "standalone-qwen2.5.sh", LAUNCHES / "standalone-llama3.1-8b.sh"
    sizes = {}
    for path in (faulty, clean):
        scratch = tmp_path / path.stem
        scratch.mkdir()
        (words,) = servers(path, scratch)
        folders = [MODELS / name.replace("/", "--") for name in values(words, *MODEL_FLAGS)]
        sizes[path] = {
            json.loads((folder / "config.json").read_text(encoding="utf-8"))["vocab_size"] for folder in folders
        }
    assert sizes == {faulty: {152064, 151936}, clean: {128256}}


def test_a_comment_after_a_backslash_drops_speculation(tmp_path: Path) -> None:
    (words,) = servers(LAUNCHES / "faulty" / "comment-after-backslash.sh", tmp_path)
    assert words == ["--model-path", "Qwen/Qwen3.5-9B", "--tp-size", "1", "--context-length", "65536"]


@pytest.mark.engine
@pytest.mark.slow
def test_the_engine_parses_every_clean_launch(engine: dict[str, object]) -> None:
    refused = {name for name, accepted in engine["accepted"] if not accepted}
    assert refused == {"glued-flags.sh", "standalone-qwen2.5.sh"}


@pytest.mark.engine
@pytest.mark.slow
def test_a_hazard_names_flags_and_fields_that_the_engine_has(engine: dict[str, object]) -> None:
    options, names = {*engine["options"], *PLUGIN_FLAGS}, set(engine["fields"])
    for hazard in HAZARDS:
        given = {flag for fix in hazard.fix for flag in re.findall(r"--[\w-]+", fix)}
        assert given <= options, hazard.id
        assert set(hazard.when.get("switch", {})) <= names | {"disable_cuda_graph"}, hazard.id


def test_configs_and_their_sources_agree() -> None:
    sources = json.loads((MODELS / "SOURCES.json").read_text(encoding="utf-8"))
    folders = {path.parent.name for path in MODELS.glob("*--*/config.json")}
    assert folders == {name.replace("/", "--") for name in sources}
    for name, entry in sources.items():
        config = json.loads((MODELS / name.replace("/", "--") / "config.json").read_text(encoding="utf-8"))
        assert entry["sources"], name
        assert all(URL.fullmatch(source) for source in entry["sources"]), name
        datetime.date.fromisoformat(entry["seen"])
        inner = {**config, **config.get("text_config", {})}
        assert not set(entry["values_not_found"]) & set(inner), name
        assert inner["model_type"], name


def test_hazards_bear_dates_addresses_and_conditions_that_can_be_tested() -> None:
    numbers = {field.name for field in fields(Settings)}
    for hazard in HAZARDS:
        assert re.fullmatch(r"[a-z0-9.]+(-[a-z0-9.]+)+", hazard.id)
        datetime.date.fromisoformat(hazard.seen)
        assert all(URL.fullmatch(source) for source in hazard.sources), hazard.id
        assert hazard.title, hazard.id
        assert hazard.effect, hazard.id
        assert hazard.cause, hazard.id
        assert hazard.fix, hazard.id
        assert all(re.fullmatch(r"sm_\d+", arch) for arch in hazard.when.get("arch", [])), hazard.id
        assert set(hazard.when.get("number", {})) <= numbers, hazard.id
        assert all(re.fullmatch(r"(>=|<=|==|>|<)\d+", bound) for bound in hazard.when.get("number", {}).values())
        assert all(str(SpecifierSet(bound)) for bound in hazard.when.get("package", {}).values()), hazard.id


def test_hazards_are_sorted_and_of_every_kind() -> None:
    text = (FIXTURES / "hazards" / "hazards.json").read_text(encoding="utf-8")
    raw = json.loads(text)
    assert raw["schema"] == 1
    assert [entry["id"] for entry in raw["hazards"]] == [hazard.id for hazard in parse(text)]
    assert {hazard.kind for hazard in HAZARDS} == {"architecture", "switch", "package"}
    unknown = [hazard for hazard in HAZARDS if hazard.cause.startswith("not established")]
    assert all(hazard.provenance != "measured here" for hazard in unknown)
    founding = next(hazard for hazard in HAZARDS if hazard.id == "sm103-ddtree-budget-above-8")
    assert founding.provenance == "reported"
    assert founding in unknown


def test_the_table_lists_exactly_the_shipped_launches() -> None:
    table = (FIXTURES.parent / "docs" / "launches.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w.-]+)` \|", table, re.MULTILINE)
    assert sorted(rows) == sorted(path.name for path in SHIPPED)
