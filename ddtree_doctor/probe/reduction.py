"""Reduce a failing launch on the CPU: processes of their own in, the smallest case and other behaviours of it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from dacite import Config, DaciteError, from_dict

from ddtree_doctor.engine.job import Job
from ddtree_doctor.engine.replay.job import CPU_SIZES, ReplayJob, sized
from ddtree_doctor.errors import DoctorError
from ddtree_doctor.facts.bundle import bundle_of
from ddtree_doctor.probe.process import Limits, module, run
from ddtree_doctor.probe.replay import read_behaviours
from ddtree_doctor.reduction.record import Found, ReductionJob
from ddtree_doctor.replay.record import Behaviour
from ddtree_doctor.rule import Case

__all__ = ["Probes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probes:
    """What is asked of the processes of one reduction. `deadline` is in seconds for each."""

    case: Case
    deadline: float = 600.0

    def reduced(self, start: Job, what: ReplayJob, *, code: str = "", listed: bool = False) -> Found:
        """The smallest case of `start` among the scenarios that `what` asks for; `listed`: those as they are.

        Raises DoctorError where the probe has no answer, with its reason.
        """
        replayed = replace(what, start=asdict(sized(start, what.sizes)), served=False)
        job = ReductionJob(replay=replayed, bundle=bundle_of((self.case,)).to_json(), code=code, listed=listed)
        outcome = run(module("ddtree_doctor.engine.replay.reduction"), asdict(job), limits=self._limits())
        if outcome.kind != "ok":
            raise DoctorError(f"no verdict: {outcome.reason}")
        try:
            return from_dict(Found, outcome.answer, Config(cast=[tuple]))
        except (DaciteError, TypeError, ValueError) as error:
            raise DoctorError(f"no verdict: the probe's answer is none: {error}") from error

    def seen(self, start: Job, scenarios: Sequence[Any], *, code: str, sizes: Sequence[int] = CPU_SIZES) -> Behaviour:
        """The behaviour of `start` in these scenarios, by what the rule `code` looks at."""
        what = ReplayJob(
            start=asdict(sized(start, sizes)),
            sizes=tuple(sizes),
            scenarios=tuple(scenarios),
            oracle=("",) if code == "DD302" else (),
            responses=False,
            served=False,
        )
        outcome = run(module("ddtree_doctor.engine.replay.behaviour"), asdict(what), limits=self._limits())
        return read_behaviours(start.algorithm, outcome)[0]

    def _limits(self) -> Limits:
        return Limits(deadline=self.deadline, start=min(self.deadline, Limits().start))
