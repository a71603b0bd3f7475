"""Which rules about scenarios find something in a behaviour: the one judgement of every case of a reduction."""

from __future__ import annotations

from ddtree_doctor.checks import rules
from ddtree_doctor.judge import judge_alone
from ddtree_doctor.reduction.record import CODES
from ddtree_doctor.replay.record import Behaviour
from ddtree_doctor.rule import Case

__all__ = ["fired", "named"]


def fired(case: Case, seen: Behaviour) -> dict[str, str]:
    """Code → what the rule says, for each that finds something in what was seen of the launch."""
    outcomes = judge_alone(case, seen, [rule for rule in rules() if rule.code in CODES], "replay-cpu")
    return {outcome.check.code: outcome.findings[0].message for outcome in outcomes if outcome.findings}


def named(code: str) -> str:
    """`DD302 tree-row-differs-from-its-path`."""
    return next(f"{code} {rule.slug()}" for rule in rules() if rule.code == code)
