"""One opening of the engine for the behaviour under several faults, each in a copy of the process."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dacite import Config, from_dict

from ddtree_doctor.engine.copies import in_copies
from ddtree_doctor.engine.job import Job
from ddtree_doctor.engine.replay.behaviour import seen
from ddtree_doctor.engine.replay.job import ReplayJob
from ddtree_doctor.probe.child import serve

if TYPE_CHECKING:
    from ddtree_doctor.engine.start import Started

__all__ = ["behaved_each"]

AT_ONCE = 2


def behaved_each(jobs: Sequence[ReplayJob]) -> list[dict[str, Any]]:
    """For each job `{"answer": its behaviours}` or `{"failed": why}`. The starts may differ in their mutant alone.

    Raises Failed if the engine refuses what they share.
    """
    from ddtree_doctor.engine.start import opened, prepare

    starts = [_start(job) for job in jobs]
    prepare(starts[0])
    with tempfile.TemporaryDirectory(prefix="tiny-") as folder:
        started = opened(starts[0], Path(folder))
        works = [partial(_seen, started, *pair) for pair in zip(jobs, starts, strict=True)]
        return in_copies(works, at_once=AT_ONCE)


def _start(job: ReplayJob) -> Job:
    return from_dict(Job, job.start, Config(cast=[tuple]))


def _seen(started: Started, job: ReplayJob, start: Job) -> list[dict[str, Any]]:
    started.job = start
    return seen(job, started)


def _work(jobs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return behaved_each([from_dict(ReplayJob, job, Config(cast=[tuple])) for job in jobs])


if __name__ == "__main__":
    serve(_work)
    os._exit(0)
