"""Every static rule fires on its specimens, with their numbers, and is silent on its near misses."""

from __future__ import annotations

import copy
import json
from collections import Counter

import pytest

from ddtree_doctor.checks import rules
from ddtree_doctor.judge import Outcome, judge
from tests.checks.specimen import Specimen, specimens

STATIC = {rule.code: rule for rule in rules() if rule.tier == "static"}
ALL = specimens()
FIRING = [specimen for specimen in ALL if specimen.fires]
SILENT = [specimen for specimen in ALL if not specimen.fires]


def named(specimen: Specimen) -> str:
    return f"{specimen.code}: {specimen.name}"


def judged(specimen: Specimen) -> Outcome:
    (outcome,) = judge(specimen.case, (STATIC[specimen.code],), "static")
    return outcome


def test_every_static_rule_has_a_specimen_of_both_kinds() -> None:
    kinds = Counter((specimen.code, specimen.fires) for specimen in ALL)

    assert {(code, fires) for code in STATIC for fires in (True, False)} == set(kinds)


@pytest.mark.parametrize("specimen", FIRING, ids=named)
def test_a_rule_fires_on_its_specimen(specimen: Specimen) -> None:
    outcome = judged(specimen)

    assert outcome.findings, f"{outcome.status}: {outcome.reason}"
    first = outcome.findings[0]
    assert specimen.message_contains in first.message
    assert {key: first.evidence[key] for key in specimen.evidence} == specimen.evidence


@pytest.mark.parametrize("specimen", FIRING, ids=named)
def test_a_finding_is_worded_in_full_and_serialisable(specimen: Specimen) -> None:
    for found in judged(specimen).findings:
        assert found.message
        assert found.why
        assert found.fix
        assert json.loads(json.dumps(dict(found.evidence))) == dict(found.evidence)


@pytest.mark.parametrize("specimen", SILENT, ids=named)
def test_a_rule_is_silent_on_its_near_miss(specimen: Specimen) -> None:
    outcome = judged(specimen)

    assert not outcome.findings
    assert outcome.status in ("passed", "skipped"), outcome.reason


@pytest.mark.parametrize("specimen", ALL, ids=named)
def test_judging_changes_nothing_in_the_case(specimen: Specimen) -> None:
    before = copy.deepcopy(specimen.case)
    judge(specimen.case, STATIC.values(), "static")

    assert specimen.case == before
