"""The engine under each mutant, judged: one process for each launch, forked for each of its mutants."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from ddtree_doctor.checks import rules
from ddtree_doctor.contract.build import build
from ddtree_doctor.engine.mutants import mutants
from ddtree_doctor.engine.source import read_engine
from ddtree_doctor.facts.host import read_host
from ddtree_doctor.facts.read import read_facts
from ddtree_doctor.judge import Outcome, judge
from ddtree_doctor.launch import read_command
from ddtree_doctor.ledger import Ledger
from ddtree_doctor.probe.warm import observe_each
from ddtree_doctor.rule import Case

MODELS = Path(__file__).parents[2] / "fixtures" / "models" / "tiny"
SHAPE = tuple(rule for rule in rules() if rule.tier == "shape")
AT_ONCE = 2
PATIENCE = 900.0
"""Seconds for all mutants of one launch: 30 to 60 where nothing else runs."""


@dataclass(frozen=True, order=True)
class Group:
    """One launch, with the plugin that adds its algorithm, and what the unmodified engine is found guilty of there."""

    launch: str
    plugin: str = ""
    own_faults: tuple[str, ...] = ()


def mutant(name: str) -> ModuleType:
    """The module of one mutant, such as `gate_unset` or `gpu/wild_kv_indices`."""
    return import_module(f"ddtree_doctor.fixtures.mutants.{name.replace('/', '.')}")


def group_of(name: str) -> Group:
    """The launch under which a mutant shows."""
    module = mutant(name)
    return Group(module.LAUNCH, getattr(module, "PLUGIN", ""), getattr(module, "OWN_FAULTS", ()))


CODES = {rule.code for rule in SHAPE}
NAMES = tuple(name for name in mutants() if mutant(name).KILLED_BY in CODES)
"""The mutants that a shape rule is to find; those of the behaviour rules need a replay."""
GROUPS = sorted({group_of(name) for name in NAMES})


class Observed:
    """Ledgers in the making: all that the selected tests will ask for, started at the first question."""

    def __init__(self, *, mutants: Collection[str], groups: Collection[Group]) -> None:
        self._wanted: dict[Group, list[str]] = defaultdict(list)
        for group in groups:
            self._wanted[group].append("")
        for name in sorted(mutants):
            self._wanted[group_of(name)].append(name)
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._ledgers: dict[Group, Future[dict[str, Ledger]]] = {}

    def __enter__(self) -> Observed:
        largest_first = sorted(self._wanted.items(), key=lambda item: -len(item[1]))
        self._ledgers = {group: self._pool.submit(_observe, group, names) for group, names in largest_first}
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def outcomes(self, group: Group, name: str = "") -> tuple[Outcome, ...]:
        """Every shape rule on the launch, under the mutant `name` if there is one."""
        ledger = self._ledgers[group].result()[name]
        return judge(replace(case_of(group), ledger=ledger), SHAPE, "shape")


def _observe(group: Group, names: list[str]) -> dict[str, Ledger]:
    case = case_of(group)
    return observe_each(
        case.facts.launch, case.settings, names, plugin=group.plugin or None, forwards=0, deadline=PATIENCE
    )


@cache
def case_of(group: Group) -> Case:
    """The case of a launch before anything was observed."""
    engine = read_engine(plugins=(group.plugin,) if group.plugin else ())
    launch = read_command(group.launch.split(), engine.options)
    draft = launch.flag("speculative_draft_model_path")
    facts = read_facts(
        launch,
        read_host("H100x8"),
        engine,
        target_config=str(MODELS / "target" / "config.json"),
        draft_config=str(MODELS / str(draft.value) / "config.json") if draft else None,
    )
    return Case(facts=facts, contract=build(facts))
