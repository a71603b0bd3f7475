"""The engine's verify passes under each behaviour mutant, judged: one process a launch, two forks of it at a time."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from ddtree_doctor.checks import rules
from ddtree_doctor.checks.whole import Whole
from ddtree_doctor.engine.mutants import mutants
from ddtree_doctor.judge import Outcome, judge
from ddtree_doctor.ledger import Ledger
from ddtree_doctor.probe.warm import behave_each
from ddtree_doctor.replay.record import Behaviour
from tests.mutants.observed import PATIENCE, Group, case_of, group_of, mutant

BEHAVIOUR = tuple(rule for rule in rules() if rule.tier == "replay-cpu" and not issubclass(rule, Whole))
CODES = {rule.code for rule in BEHAVIOUR}
NAMES = tuple(name for name in mutants() if mutant(name).KILLED_BY in CODES)
"""The mutants that a behaviour rule is to find."""
GROUPS = sorted({group_of(name) for name in NAMES})


def scenarios(name: str) -> tuple[str, ...]:
    """What runs under a mutant: prefixes of scenario names."""
    return tuple(mutant(name).SCENARIOS)


class Behaved:
    """Behaviours of all that the selected tests will ask for; a launch's are seen together at the first question."""

    def __init__(self, *, mutants: Collection[str], groups: Collection[Group]) -> None:
        self._wanted: dict[Group, dict[str, tuple[str, ...]]] = {group: {"": _all(group)} for group in groups}
        for name in sorted(mutants):
            self._wanted.setdefault(group_of(name), {})[name] = scenarios(name)
        self._seen: dict[Group, Mapping[str, tuple[Behaviour, ...]]] = {}

    def outcomes(self, group: Group, name: str = "") -> tuple[Outcome, ...]:
        """Every behaviour rule on the launch, under the mutant `name` if there is one."""
        roles = self.behaviours(group)[name]
        ledger = Ledger(algorithm=roles[0].algorithm, behaviours=roles)
        return judge(replace(case_of(group), ledger=ledger), BEHAVIOUR, "replay-cpu")

    def behaviours(self, group: Group) -> Mapping[str, tuple[Behaviour, ...]]:
        """The behaviours, the target's first, under each mutant by name, `""` for none."""
        if group not in self._seen:
            case, wanted = case_of(group), self._wanted[group]
            self._seen[group] = behave_each(
                case.facts.launch, case.settings, wanted, plugin=group.plugin or None, deadline=PATIENCE
            )
        return self._seen[group]


def _all(group: Group) -> tuple[str, ...]:
    """Everything that any mutant of the launch runs."""
    return tuple(sorted({one for name in NAMES if group_of(name) == group for one in scenarios(name)}))
