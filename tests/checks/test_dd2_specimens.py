"""Every shape rule fires on its specimen, passes its near miss, and says UNKNOWN where there is a specimen for that."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from dacite import Config, from_dict

from ddtree_doctor.checks import rules
from ddtree_doctor.contract.model import Contract, RoleContract, Settings
from ddtree_doctor.facts.model import Engine, Facts, Host, ModelConfig
from ddtree_doctor.judge import Outcome, exit_status, judge, verdict
from ddtree_doctor.knowledge import Value
from ddtree_doctor.launch.model import Launch
from ddtree_doctor.ledger import Ledger
from ddtree_doctor.rule import Case

SPECIMENS = Path(__file__).parents[2] / "fixtures" / "specimens"
SHAPE = {rule.code: rule for rule in rules() if rule.code.startswith("DD2")}
TRITON = {"attention_backend": Value(name="attention_backend", value="triton", origin="given")}
EMPTY = Value(name="list", value=(), origin="derived")


def case_of(specimen: dict[str, Any], **settings: Value[Any]) -> Case:
    unset = {f.name: Value(name=f.name, why="not part of the specimen") for f in fields(Settings)}
    roles = tuple(
        RoleContract(
            algorithm=specimen["algorithm"],
            role=role,
            worker="draft" if role.startswith("draft") else "target",
            width=Value(name="width", value=width, origin="derived"),
            mul_base=Value(name="mul_base", value=1, origin="derived"),
            capture_bs=EMPTY,
            lost_bs=EMPTY,
        )
        for role, width in specimen["roles"].items()
    )
    return Case(
        facts=Facts(
            host=Host(python="3.11", platform="linux"),
            engine=Engine(),
            launch=Launch(command="a specimen"),
            target=ModelConfig(name="target"),
        ),
        contract=Contract(settings=Settings(**(unset | TRITON | settings)), roles=roles),
        ledger=from_dict(Ledger, specimen["ledger"], Config(cast=[tuple])),
    )


def judged(code: str, which: str, **settings: Value[Any]) -> tuple[Outcome, dict[str, Any]]:
    specimen = json.loads((SPECIMENS / code / f"{which}.json").read_text())
    (outcome,) = judge(case_of(specimen, **settings), (SHAPE[code],), "shape")
    return outcome, specimen


@pytest.mark.parametrize("code", SHAPE)
def test_a_rule_fires_on_its_specimen_with_its_numbers(code: str) -> None:
    outcome, specimen = judged(code, "fires")
    assert outcome.status == "failed"
    evidence = dict(outcome.findings[0].evidence)
    assert {key: evidence[key] for key in specimen.get("evidence", {})} == specimen.get("evidence", {})
    json.dumps([dict(found.evidence) for found in outcome.findings])


@pytest.mark.parametrize(
    ("code", "which"), [(code, path.stem) for code in SHAPE for path in sorted((SPECIMENS / code).glob("passes*.json"))]
)
def test_a_rule_passes_its_near_misses(code: str, which: str) -> None:
    outcome, _ = judged(code, which)
    assert (outcome.status, outcome.findings) == ("passed", ())


@pytest.mark.parametrize("code", [code for code, rule in SHAPE.items() if rule.required])
def test_a_required_rule_says_unknown_where_a_role_was_not_observed(code: str) -> None:
    outcome, _ = judged(code, "unknown")
    assert outcome.status == "unknown"
    assert "draft" in outcome.reason
    assert exit_status(verdict((outcome,))) == 1


@pytest.mark.parametrize("code", SHAPE)
def test_a_rule_says_unknown_where_the_probe_gave_nothing(code: str) -> None:
    specimen = json.loads((SPECIMENS / code / "passes.json").read_text())
    specimen["ledger"] |= {"rows": [], "unknown": "killed by SIGKILL"}
    (outcome,) = judge(case_of(specimen), (SHAPE[code],), "shape")
    assert (outcome.status, outcome.reason) == ("unknown", "ledger: killed by SIGKILL")


@pytest.mark.parametrize("code", SHAPE)
def test_a_rule_is_skipped_where_the_launch_captures_no_graph(code: str) -> None:
    outcome, _ = judged(code, "fires", cuda_graph=Value(name="cuda_graph", value=False, origin="given"))
    assert outcome.status == "skipped"


def test_the_founding_fault_is_told_with_both_numbers_the_class_the_file_and_the_error() -> None:
    outcome, _ = judged("DD201", "fires")
    (found,) = outcome.findings
    assert (found.severity, found.confidence, found.subject) == ("error", "certain", "DDTREE/target_verify")
    assert found.evidence["runner"] == "DecodeCudaGraphRunner"
    assert found.evidence["source"].endswith("decode_cuda_graph_runner.py:359")
    assert "The size of tensor a (8) must match the size of tensor b (33) at non-singleton dimension 0" in found.message
    assert verdict((outcome,)) == "blocked"


@pytest.mark.parametrize("code", ["DD209", "DD210", "DD211"])
def test_a_buffer_of_the_backend_that_stands_in_for_the_launchs_own_only_warns(code: str) -> None:
    other = Value(name="attention_backend", value="fa3", origin="given")
    outcome, _ = judged(code, "fires", attention_backend=other)
    assert {found.severity for found in outcome.findings} == {"warning"}
    assert "triton stood in for fa3" in outcome.findings[0].message
    assert verdict((outcome,)) == "ready"


def test_a_capture_that_stops_under_a_stand_in_is_unknown() -> None:
    other = Value(name="attention_backend", value="fa3", origin="given")
    outcome, _ = judged("DD221", "fires", attention_backend=other)
    assert outcome.status == "unknown"
    assert "size of tensor" in outcome.reason


def test_every_runner_of_a_role_is_judged_not_only_its_first() -> None:
    specimen = json.loads((SPECIMENS / "DD201" / "passes.json").read_text())
    draft = specimen["ledger"]["rows"][1]
    specimen["ledger"]["rows"].append({**draft, "tokens_per_bs": draft["tokens_per_bs"] + 1})
    (outcome,) = judge(case_of(specimen), (SHAPE["DD201"],), "shape")
    assert [found.evidence["observed"] for found in outcome.findings] == [draft["tokens_per_bs"] + 1]
