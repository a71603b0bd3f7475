"""The report object (`ddtree-doctor/report/1`): one JSON object, the contract between the doctor and its readers.

Every format is made from this object, so that all say the same. `schema.json` beside this file describes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ddtree_doctor import __version__
from ddtree_doctor.judge import Outcome, exit_status, verdict
from ddtree_doctor.ledger import Row
from ddtree_doctor.report.behaviours import behaviour_object
from ddtree_doctor.report.engine_runs import engine_run_objects
from ddtree_doctor.report.launches import launch_object, resolved_object
from ddtree_doctor.rule import SEVERITIES, Case, Finding

__all__ = ["SCHEMA", "Examined", "document"]

SCHEMA = "ddtree-doctor/report/1"
STATUSES = ("passed", "failed", "unknown", "skipped")


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """One launch with every rule's outcome."""

    case: Case
    outcomes: tuple[Outcome, ...]


def document(examined: Sequence[Examined], *, tier: str, facts_digest: str) -> dict[str, Any]:
    """The report object for all launches of one run; `tier` is the deepest that ran."""
    outcomes = [outcome for one in examined for outcome in one.outcomes]
    answer = verdict(outcomes)
    report: dict[str, Any] = {
        "schema": SCHEMA,
        "tool": {"name": "ddtree-doctor", "version": __version__},
        "verdict": answer,
        "exit_code": exit_status(answer),
        "tier": tier,
        "engine": _engine(examined[0].case) if examined else None,
        "launches": [_launch(one.case) for one in examined],
        "facts_digest": facts_digest,
        "counts": _counts(outcomes),
        "checks": [_check(index, outcome) for index, one in enumerate(examined) for outcome in one.outcomes],
        "findings": sorted(
            (
                found
                for index, one in enumerate(examined)
                for outcome in one.outcomes
                for found in _found(index, one.case, outcome)
            ),
            key=lambda found: (SEVERITIES.index(found["severity"]), found["launch"], found["code"], found["subject"]),
        ),
        "ledger": [
            _row(index, one.case, row)
            for index, one in enumerate(examined)
            if one.case.ledger is not None
            for row in one.case.ledger.rows
        ],
        "behaviours": [
            behaviour_object(index, seen)
            for index, one in enumerate(examined)
            if one.case.ledger is not None
            for seen in one.case.ledger.behaviours
        ],
        "engine_runs": [
            entry
            for index, one in enumerate(examined)
            if one.case.ledger is not None
            for entry in engine_run_objects(index, one.case.ledger.engine_runs)
        ],
    }
    return {key: _plain(value) for key, value in report.items()}


def _plain(value: Any) -> Any:
    """`value` as JSON has it: tuples become lists, so that the object equals what a reader gets back."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _engine(case: Case) -> dict[str, Any]:
    engine = case.facts.engine
    return {
        "version": engine.version,
        "fork": engine.fork,
        "layout": engine.layout,
        "plugins": list(engine.plugins),
        "unknown": engine.unknown,
    }


def _launch(case: Case) -> dict[str, Any]:
    ledger = case.ledger
    return launch_object(case.facts.launch, case.facts.engine) | {
        "resolved": resolved_object(case.settings),
        "substituted": list(ledger.substituted) if ledger else [],
        "probe": {"seconds": ledger.seconds, "unknown": ledger.unknown} if ledger else None,
        "notes": [asdict(note) for note in case.facts.launch.notes],
    }


def _counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    by_status = Counter(outcome.status for outcome in outcomes)
    ran = sum(by_status[status] for status in STATUSES[:3])
    return {"selected": len(outcomes), "ran": ran, **{status: by_status[status] for status in STATUSES}}


def _check(index: int, outcome: Outcome) -> dict[str, Any]:
    check = outcome.check
    return {
        "launch": index,
        "code": check.code,
        "name": check.slug(),
        "title": check.title(),
        "severity": check.severity,
        "confidence": check.confidence,
        "tier": check.tier,
        "required": check.required,
        "status": outcome.status,
        "reason": outcome.reason,
    }


def _found(index: int, case: Case, outcome: Outcome) -> list[dict[str, Any]]:
    found = [_finding(index, finding, "failed") for finding in outcome.findings]
    if outcome.status == "unknown" and outcome.check.required:
        found.append(_finding(index, _unjudged(case, outcome), "unknown"))
    return found


def _unjudged(case: Case, outcome: Outcome) -> Finding:
    """A required rule that could not be judged, worded as a finding: it is why the launch is not ready."""
    check = outcome.check
    return Finding(
        code=check.code,
        name=check.slug(),
        severity="error",
        confidence="certain",
        subject="not judged",
        message=f"This check must be judged before launch and could not be: {outcome.reason}",
        why=check.why,
        fix=("Supply what is missing, or stop at an earlier tier with --tier",),
        references=check.references,
        location=case.facts.launch.location,
    )


def _finding(index: int, finding: Finding, status: str) -> dict[str, Any]:
    return {
        "launch": index,
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "status": status,
        "subject": finding.subject,
        "message": finding.message,
        "evidence": dict(finding.evidence),
        "why": finding.why,
        "fix": list(finding.fix),
        "references": list(finding.references),
        "location": asdict(finding.location),
    }


def _row(index: int, case: Case, row: Row) -> dict[str, Any]:
    demand = case.contract.role(row.role)
    return {
        "launch": index,
        "algorithm": row.algorithm,
        "role": row.role,
        "worker": row.worker,
        "runner": row.runner,
        "source": row.source,
        "tokens_per_bs": row.tokens_per_bs,
        "expected_tokens_per_bs": demand.width.value if demand else None,
        "capture_bs": list(row.capture_bs),
        "mul_base": row.mul_base,
        "buffers": [asdict(buffer) for buffer in row.buffers],
        "unknown": row.unknown,
    }
