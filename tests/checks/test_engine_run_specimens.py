"""Every rule of whole engines fires on its specimen, passes a tie, and judges nothing on runs that are in doubt."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from dacite import Config, from_dict

from ddtree_doctor.checks import rules
from ddtree_doctor.checks.whole import Whole
from ddtree_doctor.judge import judge
from ddtree_doctor.ledger import Ledger
from ddtree_doctor.replay.engine_run import EngineRun
from tests.report.sample import case

SPECIMENS = Path(__file__).parents[2] / "fixtures" / "specimens"
RULES = {rule.code: rule for rule in rules() if issubclass(rule, Whole)}


def specimen(code, which):
    return json.loads((SPECIMENS / code / f"{which}.json").read_text())


def runs(code, which):
    return tuple(from_dict(EngineRun, one, Config(cast=[tuple])) for one in specimen(code, which)["runs"])


def outcome(code, seen):
    ledger = Ledger(algorithm="NGRAM", engine_runs=tuple(seen))
    (judged,) = judge(replace(case(), ledger=ledger), (RULES[code],), "replay-gpu")
    return judged


def changed(seen, chosen, **fields):
    return [replace(run, **fields) if chosen(run) else run for run in seen]


def trusted(run):
    return not run.speculation and not run.graphs


def looked_at(code):
    return RULES[code]().looks_at


@pytest.mark.parametrize("code", RULES)
def test_a_rule_fires_on_its_specimen_at_the_first_token_that_rounding_does_not_explain(code):
    judged = outcome(code, runs(code, "fires"))
    assert judged.status == "failed"
    (found,) = judged.findings
    expected = specimen(code, "fires")["evidence"]
    assert {key: found.evidence[key] for key in expected} == expected
    assert "token 1 of prompt 1: token id 2 in place of token id 5, whose logit is 2 ahead" in found.message


@pytest.mark.parametrize("code", RULES)
def test_two_tokens_that_tie_are_no_fault(code):
    judged = outcome(code, runs(code, "passes"))
    assert (judged.status, judged.findings) == ("passed", ())


@pytest.mark.parametrize("code", RULES)
def test_where_two_equal_runs_say_two_things_nothing_is_found(code):
    seen = runs(code, "fires")
    other = next(run for run in seen if looked_at(code)(run) and run.graphs)
    noisy = changed(seen, lambda run: trusted(run) and run.number == 2, texts=other.texts)
    judged = outcome(code, noisy)
    assert (judged.status, judged.findings) == ("unknown", ())
    assert "say two things" in judged.reason


@pytest.mark.parametrize("code", RULES)
@pytest.mark.parametrize("chosen", ["trusted", "looked at"])
def test_a_run_that_failed_is_unknown_by_name(code, chosen):
    which = trusted if chosen == "trusted" else looked_at(code)
    judged = outcome(code, changed(runs(code, "passes"), which, texts=(), unknown="RuntimeError: no such kernel"))
    assert judged.status == "unknown"
    assert "RuntimeError: no such kernel" in judged.reason


@pytest.mark.parametrize("code", RULES)
def test_a_run_with_graphs_that_replayed_none_proves_nothing(code):
    judged = outcome(code, changed(runs(code, "passes"), lambda run: run.graphs, replays=0))
    assert judged.status == "unknown"
    assert "no graph was replayed" in judged.reason


@pytest.mark.parametrize("code", RULES)
def test_without_a_trusted_run_nothing_is_judged(code):
    judged = outcome(code, [run for run in runs(code, "fires") if not trusted(run)])
    assert (judged.status, judged.findings) == ("unknown", ())


@pytest.mark.parametrize("code", RULES)
def test_the_other_host_and_no_run_at_all_are_skipped_with_the_option_that_runs_it(code):
    other = "cpu" if code.startswith("DD4") else "gpu"
    for seen in ((), changed(runs(code, "fires"), lambda run: True, host=other)):
        judged = outcome(code, seen)
        assert judged.status == "skipped"
        assert "--engine" in judged.reason


@pytest.mark.parametrize("code", RULES)
def test_where_no_run_is_of_its_kind_a_rule_is_skipped(code):
    judged = outcome(code, [run for run in runs(code, "fires") if not looked_at(code)(run)])
    assert (judged.status, judged.reason) == ("skipped", RULES[code].nothing)


def test_what_the_other_graph_mode_says_is_said():
    assert "without graphs the answers are the same" in outcome("DD311", runs("DD311", "fires")).findings[0].message
