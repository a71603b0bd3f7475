"""From launches to judged cases: read the facts, build the contract, probe the engine, run the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module

from ddtree_doctor.contract.build import build
from ddtree_doctor.facts.model import Engine, Facts
from ddtree_doctor.judge import Outcome, judge
from ddtree_doctor.launch.model import Launch
from ddtree_doctor.ledger import Ledger
from ddtree_doctor.progress import step
from ddtree_doctor.report.document import Examined
from ddtree_doctor.rule import TIERS, Case, Check
from ddtree_doctor.selection import selected

__all__ = ["Plan", "case_of", "deepest", "examine", "judged"]

SUPPORTED_TIERS = ("static", "shape")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run does: how deep, with which engine plugin, which rules, and how long a probe may take (seconds)."""

    tier: str
    plugin: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    deadline: float = 120.0

    def reaches(self, tier: str) -> bool:
        """Whether this run goes as deep as `tier`."""
        return TIERS.index(self.tier) >= TIERS.index(tier)


def deepest(engine: Engine) -> str:
    """The deepest tier this machine can run: `shape` wherever an engine with a known layout is installed."""
    return "shape" if engine.version and engine.layout and not engine.unknown else "static"


def case_of(facts: Facts, plan: Plan) -> Case:
    """The case of one launch: its contract, and its ledger where the plan reaches the shape tier."""
    case = Case(facts=facts, contract=build(facts))
    return replace(case, ledger=_observed(case, plan)) if plan.reaches("shape") else case


def judged(cases: Sequence[Case], plan: Plan) -> tuple[Examined, ...]:
    """Every selected rule's outcome on every case. Raises UsageError where the selection names no rule."""
    every: tuple[type[Check], ...] = import_module("ddtree_doctor.checks").rules()
    chosen = selected(every, plan.select, plan.ignore)
    return tuple(Examined(case=case, outcomes=_outcomes(case, chosen, plan)) for case in cases)


def examine(facts: Sequence[Facts], plan: Plan) -> tuple[Examined, ...]:
    """Judge each launch. The selection is tried first, so that a misspelt code costs no engine start."""
    selected(import_module("ddtree_doctor.checks").rules(), plan.select, plan.ignore)
    return judged([case_of(one, plan) for one in facts], plan)


def _outcomes(case: Case, chosen: Sequence[type[Check]], plan: Plan) -> tuple[Outcome, ...]:
    return judge(case, chosen, plan.tier)


def _observed(case: Case, plan: Plan) -> Ledger:
    from ddtree_doctor.probe.shape import observe

    launch: Launch = case.facts.launch
    with step(f"starting SGLang's workers for {launch.command[:60]}"):
        return observe(launch, case.settings, plugin=plan.plugin, deadline=plan.deadline)
