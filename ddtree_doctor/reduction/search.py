"""From a launch to its smallest failing case: which rule fires, the reduction, the axes, and the file that shows it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ddtree_doctor.engine.job import Job
from ddtree_doctor.engine.mutants import mutant_file
from ddtree_doctor.engine.plugins import plugin_named
from ddtree_doctor.engine.replay.ground import LINEAR, UNDRIVEN
from ddtree_doctor.engine.replay.job import CPU_SIZES, ReplayJob, replay_job, sized
from ddtree_doctor.errors import UsageError
from ddtree_doctor.probe.reduction import Probes
from ddtree_doctor.progress import step
from ddtree_doctor.reduction.axes import Axis, axes, captured_sizes
from ddtree_doctor.reduction.command import Command
from ddtree_doctor.reduction.record import Found
from ddtree_doctor.reduction.scenarios import Scenarios, reduced, size
from ddtree_doctor.reduction.verdict import named
from ddtree_doctor.reduction.written import case_data, written
from ddtree_doctor.replay.scenario import Scenario
from ddtree_doctor.rule import Case

__all__ = ["Reduced", "Search"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduced:
    """What a search came to: nothing that fails where `found` has no code and no scenarios."""

    found: Found
    sizes: tuple[int, ...] = ()
    axes: tuple[Axis, ...] = ()
    text: str = ""

    @property
    def scenarios(self) -> Scenarios:
        """The smallest case."""
        return tuple(map(Scenario.from_json, self.found.scenarios))


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What `doctor bisect` does with one launch.

    `code` is the rule to reduce, "" for the first that fires; `only` prefixes of scenario names, all if empty; `check`
    a command that judges in place of the rules, `mutant` the name of a fault to plant, `name` the file's. `deadline` is
    in seconds for each process.
    """

    case: Case
    plugin: str = ""
    mutant: str = ""
    code: str = ""
    only: tuple[str, ...] = ()
    check: str = ""
    name: str = ""
    deadline: float = 600.0
    sizes: tuple[int, ...] = field(default=CPU_SIZES)

    def run(self) -> Reduced:
        """Search. Raises DoctorError where a process gives no answer, UsageError for an unknown plugin or mutant."""
        return self._by_command() if self.check else self._by_rule()

    def confirm(self, file: Path) -> bool:
        """Whether the written file fails in a process of its own, with the mutant where one is planted."""
        patch = ["--apply", mutant_file(self.mutant)] if self.mutant else []
        with step(f"running {file.name}"):
            done = subprocess.run(
                [sys.executable, str(file), *patch],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=self.deadline,
                check=False,
            )
        return done.returncode == 1

    def _start(self) -> Job:
        """The start that is searched. Raises UsageError for a launch whose verify passes cannot be replayed."""
        chosen = plugin_named(self.plugin).name if self.plugin else ""
        mutant = mutant_file(self.mutant) if self.mutant else ""
        start = replay_job(self.case.facts.launch, self.case.settings, plugin=chosen, mutant=mutant)
        graph = self.case.settings.cuda_graph
        if graph.known and graph.value is False:
            raise UsageError("launch: CUDA graphs are off in it, so nothing is replayed; bisect one that has them")
        if start.algorithm in UNDRIVEN:
            raise UsageError(f"launch: bisect does not cover {start.algorithm}: {UNDRIVEN[start.algorithm]}")
        return start

    def _probes(self) -> Probes:
        return Probes(case=self.case, deadline=self.deadline)

    def by_rule_alone(self) -> Reduced:
        """The smallest case at the captured sizes of the start, in one start of the engine; no axis is looked at."""
        start = self._start()
        found = self._smallest(self._probes(), start)
        text = self._text(start, found, self.sizes, ()) if found.code else ""
        return Reduced(found=found, sizes=self.sizes, text=text)

    def _smallest(self, probes: Probes, start: Job) -> Found:
        with step("looking for a scenario that fails and making it smaller"):
            return probes.reduced(start, ReplayJob(start={}, sizes=self.sizes, only=self.only), code=self.code)

    def _by_rule(self) -> Reduced:
        start, probes = self._start(), self._probes()
        found = self._smallest(probes, start)
        if not found.code:
            return Reduced(found=found)
        with step("leaving captured sizes out"):
            sizes = captured_sizes(probes, start, found, self.sizes)
        found = self._again(probes, start, found, sizes)
        with step("looking at the other side of each axis"):
            sides = axes(probes, start, found, sizes, self.sizes)
        text = self._text(start, found, sizes, sides)
        return Reduced(found=found, sizes=sizes, axes=sides, text=text)

    def _again(self, probes: Probes, start: Job, found: Found, sizes: Sequence[int]) -> Found:
        """The case reduced once more under fewer graphs, where batches may be smaller; as it was where that is none."""
        requests = size(tuple(map(Scenario.from_json, found.scenarios)))[1]
        if requests == 1 or tuple(sizes) == self.sizes:
            return found
        with step("reducing once more under fewer graphs"):
            what = ReplayJob(start={}, sizes=tuple(sizes), scenarios=found.scenarios)
            smaller = probes.reduced(start, what, code=found.code)
        tests = found.tests + smaller.tests
        return replace(smaller if smaller.code else found, fired=found.fired, before=found.before, tests=tests)

    def _by_command(self) -> Reduced:
        """The rules of a file are the doctor's; whether a case fails is what the command says."""
        start, probes = self._start(), self._probes()
        listed = probes.reduced(start, ReplayJob(start={}, sizes=self.sizes, only=self.only), listed=True)
        scenarios = tuple(map(Scenario.from_json, listed.scenarios))
        judge = Command(
            command=self.check,
            text=lambda some: self._text(start, replace(listed, scenarios=_json(some)), self.sizes, ()),
            deadline=self.deadline,
        )
        tests = 0

        def fails(some: Scenarios) -> bool:
            nonlocal tests
            tests += 1
            return judge(some)

        with step(f"asking {self.check}"):
            if not fails(scenarios):
                return Reduced(found=Found(before=len(scenarios), tests=tests))
            smallest = reduced(scenarios, fails, whole_trees=start.algorithm in LINEAR)
        found = Found(before=len(scenarios), scenarios=_json(smallest), tests=tests)
        return Reduced(found=found, sizes=self.sizes, text=self._text(start, found, self.sizes, ()))

    def _text(self, start: Job, found: Found, sizes: Sequence[int], sides: Sequence[Axis]) -> str:
        code = found.code or self.code
        what = named(code) if code else "what " + repr(self.check) + " refuses"
        release = self.case.facts.engine.version or "an unknown release"
        return written(
            case_data(sized(start, sizes), code, found.scenarios, f"{what}: a verify pass of SGLang, reduced"),
            name=self.name,
            command=self.case.facts.launch.command,
            details=tuple(_details(found, sides)),
            release=f"SGLang {release}",
            watched=code in ("", "DD307") or bool(found.seen and found.seen.accesses),
        )


def _json(scenarios: Scenarios) -> tuple[object, ...]:
    return tuple(one.to_json() for one in scenarios)


def _details(found: Found, sides: Sequence[Axis]) -> Iterator[str]:
    """What the head of the file says of how the case fails."""
    if found.code:
        yield f"In the launch's scenarios: {found.fired.get(found.code, '')}."
    for side in sides:
        yield f"{side.name}: {side.verdict}"
