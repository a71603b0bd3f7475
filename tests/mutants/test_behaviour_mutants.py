"""A known fault in the engine's verify passes is found by the rule named for it; without it they are clean."""

from __future__ import annotations

import re

import pytest

from tests.mutants.behaved import CODES, GROUPS, NAMES, Behaved, Group, group_of, mutant
from tests.mutants.test_mutants import TRIAGE_CLASSES as SHAPE_CLASSES

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.timeout(1800)]

TRIAGE_CLASSES = SHAPE_CLASSES | {
    *("stale-padding-rows", "graph-pool-aliasing", "cross-stream-race", "batch-bookkeeping"),
    *("kernel-bug", "kv-cache-accounting"),
}


@pytest.fixture(scope="module")
def behaved(request: pytest.FixtureRequest) -> Behaved:
    """What the mutants of the selected tests do."""
    asked = [item.callspec.params for item in request.session.items if "behaved" in getattr(item, "fixturenames", ())]
    return Behaved(
        mutants={params["name"] for params in asked if "name" in params},
        groups={params["group"] for params in asked if "group" in params},
    )


@pytest.mark.mutant
@pytest.mark.parametrize("name", NAMES)
def test_the_named_rule_kills_the_mutant(name: str, behaved: Behaved, record_property) -> None:
    record_property("mutant", True)
    outcomes = behaved.outcomes(group_of(name), name)
    found = {finding.code: finding.message for outcome in outcomes for finding in outcome.findings}
    unjudged = {outcome.check.code: outcome.reason for outcome in outcomes if outcome.status == "unknown"}
    assert mutant(name).KILLED_BY in found, f"found {found}; not judged {unjudged}"
    assert unjudged == {}
    assert "DD308" not in found or mutant(name).KILLED_BY == "DD308", "a silent fault must not need a crash"


@pytest.mark.mutant
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: re.sub(r"^.*?--spec", "--spec", group.launch))
def test_the_same_passes_without_a_fault_are_clean(group: Group, behaved: Behaved) -> None:
    outcomes = behaved.outcomes(group)
    found = {finding.code: finding.message for outcome in outcomes for finding in outcome.findings}
    unjudged = {outcome.check.code: outcome.reason for outcome in outcomes if outcome.status == "unknown"}
    assert found == {}
    assert unjudged == {}
    assert behaved.behaviours(group)[""][0].launches


def test_there_are_twenty_two_mutants_of_eight_fault_classes_at_least() -> None:
    classes = {mutant(name).FAULT_CLASS for name in NAMES}
    assert len(NAMES) >= 22
    assert len(classes) >= 8
    assert classes <= TRIAGE_CLASSES


def test_every_mutant_says_what_is_broken_and_which_rule_finds_it() -> None:
    for name in NAMES:
        module = mutant(name)
        assert module.SCENARIOS
        assert "https://" in (module.__doc__ or "") or "No public report" in (module.__doc__ or "")
        assert module.apply.__doc__


def test_every_behaviour_rule_has_a_mutant() -> None:
    assert {mutant(name).KILLED_BY for name in NAMES} == CODES
