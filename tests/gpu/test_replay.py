"""Real CUDA graphs of the installed engine: clean launches are ready, planted faults are named and survived."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path

import pytest

from ddtree_doctor.checks import rules
from ddtree_doctor.cli.main import main
from ddtree_doctor.contract.build import build
from ddtree_doctor.engine.mutants import gpu_mutants
from ddtree_doctor.engine.source.read import read_engine
from ddtree_doctor.facts.host import read_host
from ddtree_doctor.facts.read import read_facts
from ddtree_doctor.judge import judge_alone
from ddtree_doctor.launch import read_command
from ddtree_doctor.probe.process import Limits, module, run
from ddtree_doctor.probe.replay_gpu import behave_gpu, sanitize
from ddtree_doctor.replay.record import Behaviour
from ddtree_doctor.rule import Case
from tests.mutants.observed import mutant

pytestmark = [pytest.mark.gpu, pytest.mark.engine, pytest.mark.slow]

LAUNCHES = Path(__file__).parents[2] / "ci" / "gpu" / "launches"
PLUGINS = {"ddtree": ("--plugin", "ddtree")}
UNKNOWN = "unknown"
"""KILLED_BY of a mutant that leaves nothing to be judged."""


@cache
def case(launch: str, plugin: str) -> Case:
    """The facts and contract of a command line on this machine."""
    engine = read_engine(plugins=(plugin,) if plugin else ())
    facts = read_facts(read_command(launch.split(), engine.options), read_host(None), engine)
    return Case(facts=facts, contract=build(facts))


@pytest.mark.parametrize("launch", sorted(path.stem for path in LAUNCHES.glob("*.sh")))
def test_a_clean_launch_is_ready_and_every_pass_runs_through_its_graph(launch: str, tmp_path: Path) -> None:
    report, ledger = tmp_path / "report.json", tmp_path / "arch.json"
    words = ("--host", "gpu", "--json", str(report), "--record", str(ledger))
    status = main(["replay", str(LAUNCHES / f"{launch}.sh"), *PLUGINS.get(launch, ()), *words])
    assert (status, json.loads(report.read_text())["findings"]) == (0, [])
    ((cell,),) = [run["cells"] for run in json.loads(ledger.read_text())["runs"]]
    assert cell["verdict"] == "passed"
    assert cell["hits"] == cell["passes"] > 0


@pytest.mark.parametrize("name", gpu_mutants())
def test_a_planted_access_is_named_and_the_gpu_goes_on(name: str) -> None:
    planted = mutant(name)
    one = case(planted.LAUNCH, planted.PLUGIN)
    (seen,) = behave_gpu(
        one.facts.launch, one.settings, plugin=planted.PLUGIN, mutant=name, only=planted.SCENARIOS, responses=False
    )
    assert (planted.KILLED_BY == UNKNOWN and bool(seen.unknown)) or planted.KILLED_BY in found(one, seen)
    assert run(module("ddtree_doctor.engine.replay.usable"), limits=Limits(deadline=60.0, start=60.0)).kind == "ok"


def test_memcheck_sees_the_planted_store() -> None:
    if shutil.which("compute-sanitizer") is None:
        pytest.skip("compute-sanitizer is not on PATH")
    planted = mutant("gpu/store_behind_positions")
    one = case(planted.LAUNCH, planted.PLUGIN)
    (seen,) = sanitize(
        one.facts.launch, one.settings, ("memcheck",), plugin=planted.PLUGIN, mutant="gpu/store_behind_positions"
    )
    assert "DD410" in found(one, seen)


def found(one: Case, seen: Behaviour) -> set[str]:
    """The codes of what the rules of this tier find."""
    tier = [rule for rule in rules() if rule.tier == "replay-gpu"]
    return {finding.code for outcome in judge_alone(one, seen, tier, "replay-gpu") for finding in outcome.findings}
