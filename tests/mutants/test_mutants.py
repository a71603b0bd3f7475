"""A known fault in the real engine is found by the rule named for it, and the same launch without it is clean."""

from __future__ import annotations

import re

import pytest

from tests.mutants.observed import CODES, GROUPS, NAMES, Group, Observed, group_of, mutant

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.timeout(1200)]

TRIAGE_CLASSES = {
    *("shape-width-mismatch", "batch-exceeds-captured-range", "context-headroom", "undersized-graph-buffer"),
    *("graph-key-geometry", "divisibility-padding", "draft-target-config-mismatch", "hidden-state-capture"),
    *("backend-feature-unsupported", "measurement-expectation"),
}


@pytest.mark.mutant
@pytest.mark.parametrize("name", NAMES)
def test_the_named_rule_kills_the_mutant(name: str, observed: Observed, record_property) -> None:
    record_property("mutant", True)
    outcomes = observed.outcomes(group_of(name), name)
    found = {finding.code: finding.message for outcome in outcomes for finding in outcome.findings}
    unjudged = {outcome.check.code: outcome.reason for outcome in outcomes if outcome.status == "unknown"}
    assert mutant(name).KILLED_BY in found, f"found {found}; not judged {unjudged}"


@pytest.mark.mutant
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: re.sub(r"^.*?--cuda", "--cuda", group.launch))
def test_the_same_launch_without_a_fault_is_clean(group: Group, observed: Observed) -> None:
    outcomes = observed.outcomes(group)
    found = {finding.code: finding.message for outcome in outcomes for finding in outcome.findings}
    unjudged = {outcome.check.code: outcome.reason for outcome in outcomes if outcome.status == "unknown"}
    assert set(found) == set(group.own_faults), found
    assert unjudged == {}


def test_there_are_twenty_mutants_of_eight_fault_classes_at_least() -> None:
    classes = {mutant(name).FAULT_CLASS for name in NAMES}
    assert len(NAMES) >= 20
    assert len(classes) >= 8
    assert classes <= TRIAGE_CLASSES


def test_every_mutant_says_what_is_broken_and_which_rule_finds_it() -> None:
    for name in NAMES:
        module = mutant(name)
        assert "https://" in (module.__doc__ or "") or "No public report" in (module.__doc__ or "")
        assert module.apply.__doc__


def test_every_shape_rule_that_can_find_something_has_a_mutant() -> None:
    """DD217 finds a runner with an empty list, which SGLang itself refuses to build."""
    killed = {mutant(name).KILLED_BY for name in NAMES}
    assert CODES - killed <= {"DD217"}
