"""On any case whatever a rule yields findings or says why not: it raises nothing else and changes nothing."""

from __future__ import annotations

import copy
import json

from hypothesis import HealthCheck, given, settings

from ddtree_doctor.checks import rules
from ddtree_doctor.judge import judge
from ddtree_doctor.rule import CONFIDENCES, SEVERITIES, Case
from tests.checks.strategies import cases

RULES = rules()
STATIC = tuple(rule for rule in RULES if rule.tier == "static")
SLOW_TO_DRAW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@given(cases)
@settings(max_examples=200, deadline=None, suppress_health_check=SLOW_TO_DRAW)
def test_no_rule_raises_on_any_case(case: Case) -> None:
    outcomes = judge(case, RULES, "replay-gpu")

    assert [outcome.check for outcome in outcomes] == list(RULES)
    assert {outcome.status for outcome in outcomes} <= {"passed", "failed", "unknown", "skipped"}


@given(cases)
@settings(max_examples=60, deadline=None, suppress_health_check=SLOW_TO_DRAW)
def test_judging_changes_nothing_and_gives_the_same_again(case: Case) -> None:
    before = copy.deepcopy(case)
    first = judge(case, RULES, "replay-gpu")

    # NaN in a config is not equal to itself, so texts are compared.
    assert repr(case) == repr(before)
    assert repr(judge(case, RULES, "replay-gpu")) == repr(first)


@given(cases)
@settings(max_examples=60, deadline=None, suppress_health_check=SLOW_TO_DRAW)
def test_every_finding_is_complete_and_serialisable(case: Case) -> None:
    for outcome in judge(case, STATIC, "static"):
        for found in outcome.findings:
            assert found.message
            assert found.fix
            assert found.severity in SEVERITIES
            assert found.confidence in CONFIDENCES
            json.dumps(dict(found.evidence))
