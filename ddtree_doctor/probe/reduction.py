"""Reduce a failing launch on the CPU: a process of its own in, the smallest case out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from dacite import Config, DaciteError, from_dict

from ddtree_doctor.engine.job import Job
from ddtree_doctor.engine.replay.job import CPU_SIZES, ReplayJob
from ddtree_doctor.errors import DoctorError
from ddtree_doctor.facts.bundle import bundle_of
from ddtree_doctor.probe.process import Limits, Progress, module, run
from ddtree_doctor.reduction.record import Found, ReductionJob
from ddtree_doctor.rule import Case

__all__ = ["reduce_case", "sized"]


def reduce_case(
    case: Case,
    start: Job,
    *,
    sizes: Sequence[int] = CPU_SIZES,
    scenarios: Sequence[Any] = (),
    code: str = "",
    deadline: float = 600.0,
    progress: Progress | None = None,
) -> Found:
    """The smallest case of `start` in one process, over the catalogue's scenarios or those given as JSON.

    Raises DoctorError where the probe has no answer, with its reason.
    """
    what = ReplayJob(start=asdict(sized(start, sizes)), sizes=tuple(sizes), scenarios=tuple(scenarios), served=False)
    job = ReductionJob(replay=what, bundle=bundle_of((case,)).to_json(), code=code)
    limits = Limits(deadline=deadline, start=min(deadline, Limits().start))
    outcome = run(module("ddtree_doctor.engine.replay.reduction"), asdict(job), limits=limits, progress=progress)
    if outcome.kind != "ok":
        raise DoctorError(f"no verdict: {outcome.reason}")
    try:
        return from_dict(Found, outcome.answer, Config(cast=[tuple]))
    except (DaciteError, TypeError, ValueError) as error:
        raise DoctorError(f"no verdict: the probe's answer is none: {error}") from error


def sized(start: Job, sizes: Sequence[int]) -> Job:
    """The same start with these captured batch sizes."""
    captured = {"cuda_graph_bs_decode": list(sizes), "cuda_graph_bs": list(sizes)}
    return replace(start, fixed={**start.fixed, **captured})
