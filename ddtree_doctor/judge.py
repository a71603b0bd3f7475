"""Run rules over a case. Pure: the same case gives the same outcomes on any machine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ddtree_doctor.knowledge import NotApplicable, NotKnown
from ddtree_doctor.ledger import Ledger
from ddtree_doctor.replay.record import Behaviour
from ddtree_doctor.rule import Case, Check, Finding
from ddtree_doctor.tiers import TIERS

__all__ = ["BLOCKING", "Outcome", "exit_status", "judge", "judge_alone", "refusal", "verdict"]

BLOCKING = {("error", "certain"), ("error", "likely")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one rule ended: `status` is `passed`, `failed`, `unknown` or `skipped`; `reason` for the last two."""

    check: type[Check]
    status: str
    findings: tuple[Finding, ...] = ()
    reason: str = ""


def judge(case: Case, checks: Iterable[type[Check]], tier: str, *, stopped: str = "") -> tuple[Outcome, ...]:
    """Every rule's outcome; rules of a deeper tier than `tier` are skipped, and `stopped` says why where given."""
    reached = TIERS.index(tier)
    return tuple(
        _outcome(check, case)
        if TIERS.index(check.tier) <= reached
        else Outcome(check=check, status="skipped", reason=stopped or _not_reached(check, tier))
        for check in checks
    )


def refusal(outcomes: Iterable[Outcome]) -> str:
    """Why the engine would not start, from the first rule that found so; "" where none did."""
    for outcome in outcomes:
        if outcome.check.refuses and any((f.severity, f.confidence) in BLOCKING for f in outcome.findings):
            return f"not run: the engine does not start on this launch ({outcome.check.code})"
    return ""


def judge_alone(case: Case, seen: Behaviour, checks: Iterable[type[Check]], tier: str) -> tuple[Outcome, ...]:
    """Every rule's outcome on one behaviour of the case, as if nothing else had been seen of it."""
    return judge(replace(case, ledger=Ledger(algorithm=seen.algorithm, behaviours=(seen,))), checks, tier)


def _not_reached(check: type[Check], tier: str) -> str:
    return f"needs tier {check.tier}; this run stops at {tier}"


def _outcome(check: type[Check], case: Case) -> Outcome:
    findings: list[Finding] = []
    try:
        findings.extend(check().judge(case))
    except NotApplicable as skipped:
        return Outcome(check=check, status="skipped", reason=str(skipped))
    except NotKnown as missing:
        status = "failed" if findings else "unknown"
        return Outcome(check=check, status=status, findings=tuple(findings), reason=str(missing))
    return Outcome(check=check, status="failed" if findings else "passed", findings=tuple(findings))


def verdict(outcomes: Iterable[Outcome]) -> str:
    """`blocked` if a finding blocks, else `unknown` if a required rule could not be judged, else `ready`."""
    outcomes = tuple(outcomes)
    if any((finding.severity, finding.confidence) in BLOCKING for o in outcomes for finding in o.findings):
        return "blocked"
    if any(outcome.status == "unknown" and outcome.check.required for outcome in outcomes):
        return "unknown"
    return "ready"


def exit_status(verdict: str) -> int:
    """0 for `ready`, 1 for `blocked` and `unknown`."""
    return 0 if verdict == "ready" else 1
