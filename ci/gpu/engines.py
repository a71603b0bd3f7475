"""What the whole engine of a launch says on a GPU, in each mode, and what the rules say of that."""

from __future__ import annotations

from typing import Any

from ddtree_doctor.checks import rules
from ddtree_doctor.checks.whole import Whole
from ddtree_doctor.judge import judge
from ddtree_doctor.ledger import Ledger
from ddtree_doctor.probe.whole_engine import compare
from ddtree_doctor.report.engine_runs import engine_run_objects
from ddtree_doctor.rule import Case

DEADLINE_S = 280.0
RULES = tuple(rule for rule in rules() if issubclass(rule, Whole) and rule.tier == "replay-gpu")


def said(case: Case, *, plugin: str, mutant: str, jobs: int) -> dict[str, Any]:
    """The runs as the report has them, their measured spreads, and how each rule of whole engines ends on them."""
    runs = compare(
        case.facts.launch,
        case.settings,
        host="gpu",
        plugin=plugin or None,
        mutant=mutant or None,
        at_once=jobs,
        deadline=DEADLINE_S,
    )
    ledger = Ledger(algorithm=case.settings.algorithm.value or "NONE", engine_runs=runs)
    outcomes = judge(Case(facts=case.facts, contract=case.contract, ledger=ledger), RULES, "replay-gpu")
    return {
        "runs": list(engine_run_objects(0, runs)),
        "spreads": [one.spread for one in runs],
        "rules": {one.check.code: (one.status, one.reason) for one in outcomes},
        "judged": {found.code: found.message for one in outcomes for found in one.findings},
    }
