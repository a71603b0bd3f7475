"""The probe process of a reduction: one start of the engine, each case run in a copy of the process.

A copy is what a fresh process is right after capture, so that nothing that one case leaves behind decides the next.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dacite import Config, from_dict

from ddtree_doctor.engine.copies import in_copies
from ddtree_doctor.engine.job import Job
from ddtree_doctor.engine.replay.behaviour import captured, suite_on
from ddtree_doctor.engine.replay.ground import LINEAR, chosen, ground_of, undriven
from ddtree_doctor.facts.bundle import read_bundle
from ddtree_doctor.probe.child import Failed, serve
from ddtree_doctor.reduction.record import CODES, Found, ReductionJob
from ddtree_doctor.reduction.scenarios import Scenarios, reduced
from ddtree_doctor.reduction.verdict import fired
from ddtree_doctor.replay.record import Behaviour
from ddtree_doctor.rule import Case

if TYPE_CHECKING:
    from ddtree_doctor.engine.replay.suite import Suite
    from ddtree_doctor.replay.catalogue import Ground

__all__ = ["Trial", "reduction"]


def reduction(job: ReductionJob) -> Found:
    """The smallest case of the first rule that fires. Raises Failed where nothing can run, or cannot be told."""
    from ddtree_doctor.engine import seams
    from ddtree_doctor.engine.start import opened, prepare

    start = from_dict(Job, job.replay.start, Config(cast=[tuple]))
    prepare(start)
    # Not before: Triton reads TRITON_INTERPRET when it is imported.
    from ddtree_doctor.engine.replay.watch import TritonWatch

    with tempfile.TemporaryDirectory(prefix="tiny-") as folder:
        started, watch = opened(start, Path(folder)), TritonWatch()
        captured(job.replay, started, watch)
        runner = seams.field(started.target, "model runner")
        ground = ground_of(runner, start.algorithm, start.context)
        if why := undriven(runner, start.checkpoints):
            raise Failed(why)
        suite = suite_on(job.replay, started, ground, watch)
        trial = Trial(case=read_bundle(job.bundle.encode()).cases()[0], suite=suite, ground=ground, start=start)
        return _found(job, trial, chosen(job.replay, ground))


def _found(job: ReductionJob, trial: Trial, scenarios: Scenarios) -> Found:
    """What comes of the scenarios on what was started."""
    if job.listed:
        return Found(before=len(scenarios), tests=0, scenarios=tuple(one.to_json() for one in scenarios))
    whole = trial.seen(scenarios)
    broken = trial.fired(whole)
    code = next((code for code in CODES if code in broken and job.code in ("", code)), "")
    if not code and trial.suite.accesses and job.code in ("", "DD307"):
        first = trial.suite.accesses[0]
        raise Failed(f"capture itself touches memory outside tensors ({first.where}), before any scenario: see DD307")
    if not code:
        return Found(fired=broken, before=len(scenarios), tests=trial.tests)
    trial.suite.oracle = lambda _: code == "DD302"
    smallest = reduced(
        scenarios,
        lambda some: code in trial.fired(trial.seen(some)),
        suspects=_suspects(whole, code),
        whole_trees=trial.start.algorithm in LINEAR,
    )
    trial.suite.oracle = lambda _: True
    return Found(
        fired=broken,
        code=code,
        before=len(scenarios),
        scenarios=tuple(one.to_json() for one in smallest),
        seen=trial.seen(smallest),
        eager=trial.fired(trial.seen(smallest, graphs=False)),
        tests=trial.tests,
    )


def _suspects(whole: Behaviour, code: str) -> tuple[str, ...]:
    """The scenarios in which the rule may have found something."""
    if code == "DD307":
        return tuple({access.scenario for access in whole.accesses})
    from ddtree_doctor.engine.replay.alone import wrong

    bad = (one for one in whole.passes if any(line.startswith(code) for line in wrong(one, whole.dtype)))
    return tuple({one.scenario for one in bad})


@dataclass(slots=True)
class Trial:
    """Cases run on one started engine. `tests` counts them."""

    case: Case
    suite: Suite
    ground: Ground
    start: Job
    tests: int = 0

    def seen(self, scenarios: Scenarios, *, graphs: bool = True) -> Behaviour:
        """The behaviour of these scenarios in a copy of the process; without `graphs`, of their eager forwards alone.

        A copy that dies ends a case as the engine's own errors do: it is a pass with that error.
        """
        self.tests += 1
        (said,) = in_copies([partial(self._run, tuple(scenarios), graphs)])
        found: dict[str, Any] = said.get("answer") or {"passes": [_died(scenarios[0].name, said)]}
        blank = Behaviour(
            host="cpu",
            algorithm=self.start.algorithm,
            role="decode" if self.start.algorithm == "NONE" else "target_verify",
            backend="triton",
            dtype=self.suite.dtype,
            page_size=self.ground.page_size,
            width=self.ground.width,
        )
        return from_dict(Behaviour, {**asdict(blank), **found}, Config(cast=[tuple]))

    def fired(self, seen: Behaviour) -> dict[str, str]:
        """Each rule that finds something in a behaviour, and what it says."""
        return fired(self.case, seen)

    def _run(self, scenarios: Scenarios, graphs: bool) -> dict[str, Any]:
        import torch

        suite = replace(self.suite, passes=[], accesses=[], progress=lambda *_: None)
        if not graphs:
            stage: Any = suite.stage
            stage.replay = partial(_as_replayed, stage)
        with torch.no_grad():
            suite.run(scenarios)
        return {"passes": [asdict(one) for one in suite.passes], "accesses": [asdict(one) for one in suite.accesses]}


def _as_replayed(stage: Any, verify: Any) -> Any:
    """An eager forward where a replay is asked for."""
    from ddtree_doctor.engine.replay.stage import Replayed

    return Replayed(rows=stage.eager(verify), vocabulary=stage.vocabulary, hit=True)


def _died(scenario: str, said: dict[str, Any]) -> dict[str, Any]:
    return {"scenario": scenario, "step": 0, "bs": 0, "error": f"the process ended: {said.get('failed', 'no answer')}"}


def _work(job: dict[str, Any]) -> dict[str, Any]:
    return asdict(reduction(from_dict(ReductionJob, job, Config(cast=[tuple]))))


if __name__ == "__main__":
    serve(_work)
    # The engine's threads and destructors have nothing to do with the answer.
    os._exit(0)
