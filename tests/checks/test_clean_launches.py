"""Launches that people run raise no error and leave no required rule unknown, with their GPUs or without any."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from ddtree_doctor.checks import rules
from ddtree_doctor.contract.build import build
from ddtree_doctor.engine.plugins import plugin_named
from ddtree_doctor.facts.gpus import parse_gpus
from ddtree_doctor.facts.model import Engine, Host
from ddtree_doctor.facts.read import read_facts
from ddtree_doctor.judge import Outcome, judge, verdict
from ddtree_doctor.launch import read_file
from ddtree_doctor.rule import Case
from tests.checks.specimen import NEWEST, snapshot

FOLDER = Path(__file__).parents[2] / "fixtures" / "launches"
STATIC = tuple(rule for rule in rules() if rule.tier == "static")


def launch_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file() and path.suffix not in (".md", ".json"))


CLEAN, FAULTY = launch_files(FOLDER), launch_files(FOLDER / "faulty")


def engine_for(text: str) -> Engine:
    """The newest snapshot, with the ddtree plugin where the launch names DDTREE."""
    engine = snapshot(NEWEST)
    if "DDTREE" not in text:
        return engine
    plugin = plugin_named("ddtree")
    return replace(engine, plugins=plugin.algorithms, options=(*engine.options, *plugin.options))


def outcomes(path: Path, *, with_gpus: bool = True, plugin: bool = True) -> tuple[Outcome, ...]:
    text = path.read_text(encoding="utf-8")
    engine = engine_for(text) if plugin else snapshot(NEWEST)
    named = re.search(r"GPUs: (.+)", text)
    gpus = parse_gpus(named[1]) if named and with_gpus else ()
    host = Host(python="3.11.0", platform="linux x86_64", gpus=gpus, source="--gpu" if gpus else "none")
    cases = [read_facts(launch, host, engine) for launch in read_file(str(path), engine.options)]
    return tuple(
        outcome for facts in cases for outcome in judge(Case(facts=facts, contract=build(facts)), STATIC, "static")
    )


def test_there_are_launches_to_judge() -> None:
    assert len(CLEAN) >= 10
    assert FAULTY


@pytest.mark.parametrize("with_gpus", [True, False], ids=["its GPUs", "no GPU"])
@pytest.mark.parametrize("path", CLEAN, ids=lambda path: path.name)
def test_a_clean_launch_is_ready(path: Path, with_gpus: bool) -> None:
    found = outcomes(path, with_gpus=with_gpus)

    assert [f"{f.code}: {f.message}" for o in found for f in o.findings if f.severity == "error"] == []
    assert [f"{o.check.code}: {o.reason}" for o in found if o.status == "unknown" and o.check.required] == []
    assert verdict(found) == "ready"


@pytest.mark.parametrize("path", FAULTY, ids=lambda path: path.name)
def test_a_faulty_launch_is_blocked(path: Path) -> None:
    assert verdict(outcomes(path)) == "blocked"


def test_the_founding_launch_is_blocked_without_a_plugin_because_the_engine_has_no_ddtree() -> None:
    found = outcomes(FOLDER / "ddtree-b8-budget32.sh", plugin=False)

    assert "DD101" in [f.code for o in found for f in o.findings if f.severity == "error"]
    assert verdict(found) == "blocked"
