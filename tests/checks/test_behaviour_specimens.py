"""Every behaviour rule, on the CPU and on a GPU, fires on its specimen, passes its near miss, and never guesses."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from dacite import Config, from_dict

from ddtree_doctor.checks import rules
from ddtree_doctor.checks.replayed import Replayed
from ddtree_doctor.judge import judge
from ddtree_doctor.knowledge import Value
from ddtree_doctor.ledger import Ledger
from ddtree_doctor.replay.record import Behaviour
from tests.report.sample import case, settings

SPECIMENS = Path(__file__).parents[2] / "fixtures" / "specimens"
RULES = {rule.code: rule for rule in rules() if issubclass(rule, Replayed) and (SPECIMENS / rule.code).is_dir()}


def specimen(code, which):
    return json.loads((SPECIMENS / code / f"{which}.json").read_text())


def outcome(code, *behaviours, graph=True, **ledger):
    seen = Ledger(algorithm="DDTREE", behaviours=behaviours, **ledger)
    one = case()
    cuda_graph = Value(name="cuda_graph", value=graph, origin="given")
    contract = replace(one.contract, settings=replace(settings(), cuda_graph=cuda_graph))
    (judged,) = judge(replace(one, contract=contract, ledger=seen), (RULES[code],), "replay-gpu")
    return judged


def behaviour(code, which):
    return from_dict(Behaviour, specimen(code, which)["behaviour"], Config(cast=[tuple]))


@pytest.mark.parametrize("code", RULES)
def test_a_rule_fires_on_its_specimen_with_its_numbers(code):
    judged = outcome(code, behaviour(code, "fires"))
    assert judged.status == "failed"
    evidence = dict(judged.findings[0].evidence)
    expected = specimen(code, "fires")["evidence"]
    assert {key: evidence[key] for key in expected} == expected
    assert len(judged.findings) == 1
    json.dumps(evidence, allow_nan=False)


@pytest.mark.parametrize("code", RULES)
def test_a_rule_passes_its_near_miss(code):
    judged = outcome(code, behaviour(code, "passes"))
    assert (judged.status, judged.findings) == ("passed", ())


@pytest.mark.parametrize("code", RULES)
def test_a_behaviour_that_was_cut_short_is_unknown_by_name(code):
    cut = replace(behaviour(code, "passes"), unknown="killed by SIGKILL")
    judged = outcome(code, cut)
    assert judged.status == "unknown"
    assert "killed by SIGKILL" in judged.reason


@pytest.mark.parametrize("code", RULES)
def test_the_other_host_is_no_evidence(code):
    other = replace(behaviour(code, "fires"), host="cpu" if code.startswith("DD4") else "gpu")
    judged = outcome(code, other)
    assert (judged.status, judged.findings) == ("unknown", ())


@pytest.mark.parametrize("code", RULES)
def test_without_graphs_nothing_is_replayed(code):
    assert outcome(code, behaviour(code, "fires"), graph=False).status == "skipped"


@pytest.mark.parametrize("code", ["DD301", "DD302"])
def test_a_logit_that_is_no_number_is_never_within_the_noise(code):
    seen = behaviour(code, "passes")
    field = "replay" if code == "DD301" else "path"
    gap = replace(getattr(seen.passes[0], field), largest=None)
    judged = outcome(code, replace(seen, passes=(replace(seen.passes[0], **{field: gap}),)))
    assert judged.status == "failed"
    assert judged.findings[0].evidence["largest"] is None


@pytest.mark.parametrize("code", [code for code in RULES if code != "DD410"])
def test_a_role_that_was_not_replayed_is_passed_over_with_its_reason(code):
    ran = behaviour(code, "passes")
    noted = replace(ran, role="draft", passes=(), acceptances=(), reports=(), sanitizer="", notes=("no graph for it",))
    assert outcome(code, ran, noted).status == "passed"
    alone = outcome(code, noted)
    assert (alone.status, alone.reason) == ("skipped", "no graph for it")


def test_a_draft_that_differs_costs_accept_length_and_blocks_nothing():
    seen = behaviour("DD301", "fires")
    assert outcome("DD301", seen).findings[0].severity == "error"
    drafted = outcome("DD301", replace(seen, role="draft_extend")).findings[0]
    assert drafted.severity == "warning"
    assert "accept length" in drafted.message
