import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.judge import Outcome, exit_status, judge, verdict
from ddtree_doctor.rule import Check, Finding
from ddtree_doctor.tiers import TIERS
from tests.report.sample import RULES, BudgetTooLarge, DraftUnread, NothingWrong, SizesLost, case


def finding(severity, confidence):
    return Finding(code="DD999", name="n", severity=severity, confidence=confidence, subject="s", message="m", why="w")


def test_each_way_a_rule_can_end_has_its_status():
    statuses = {outcome.check.code: outcome.status for outcome in judge(case(), RULES, "shape")}
    assert statuses == {"DD101": "passed", "DD108": "failed", "DD113": "unknown", "DD201": "failed", "DD401": "skipped"}


def test_what_does_not_apply_is_skipped_with_its_reason():
    class Elsewhere(Check):
        """It speaks of something else."""

        code = "DD199"
        why = "w"

        def judge(self, case):
            raise self.skip("no draft model")

    (outcome,) = judge(case(), [Elsewhere], "static")
    assert (outcome.status, outcome.reason) == ("skipped", "no draft model")


def test_findings_before_a_missing_value_are_kept():
    class Half(Check):
        """It finds one thing, then lacks a value."""

        code = "DD198"
        why = "w"

        def judge(self, case):
            yield self.found("s", "m")
            case.settings.budget.need()

    (outcome,) = judge(case(), [Half], "static")
    assert (outcome.status, len(outcome.findings)) == ("failed", 1)
    assert "budget" in outcome.reason


@pytest.mark.parametrize("tier", TIERS)
def test_no_rule_runs_below_its_tier(tier):
    for outcome in judge(case(), RULES[:4], tier):
        assert (outcome.status == "skipped") == (TIERS.index(outcome.check.tier) > TIERS.index(tier))


@given(st.sampled_from(["error", "warning", "info"]), st.sampled_from(["certain", "likely", "reported"]))
def test_only_an_error_that_is_more_than_reported_blocks(severity, confidence):
    outcome = Outcome(check=NothingWrong, status="failed", findings=(finding(severity, confidence),))
    blocks = severity == "error" and confidence != "reported"
    assert verdict([outcome]) == ("blocked" if blocks else "ready")


def test_a_required_unknown_is_no_pass_and_a_block_outweighs_it():
    class Required(DraftUnread):
        """It must be known."""

        code = "DD114"
        required = True

    assert verdict(judge(case(), [Required], "static")) == "unknown"
    assert verdict(judge(case(), [Required, BudgetTooLarge], "shape")) == "blocked"
    assert verdict(judge(case(), [DraftUnread, SizesLost], "static")) == "ready"
    assert [exit_status(word) for word in ("ready", "blocked", "unknown")] == [0, 1, 1]
