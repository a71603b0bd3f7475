"""One opening of the engine for several faults: what they share is done once, then each has a copy of the process."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddtree_doctor.engine.copies import in_copies
from ddtree_doctor.engine.job import Job
from ddtree_doctor.engine.shape import smallest
from ddtree_doctor.probe.child import serve

if TYPE_CHECKING:
    from ddtree_doctor.engine.start import Started

__all__ = ["observed_each"]


def observed_each(jobs: Sequence[Job]) -> list[dict[str, Any]]:
    """For each job `{"answer": its ledger}` or `{"failed": why}`. The jobs may differ in their mutant alone.

    Raises Failed if the engine refuses what they share.
    """
    from ddtree_doctor.engine.host import keep_garbage
    from ddtree_doctor.engine.start import opened, prepare

    keep_garbage()
    prepare(jobs[0])
    with tempfile.TemporaryDirectory(prefix="tiny-") as folder:
        started = opened(jobs[0], Path(folder))
        return in_copies([partial(_observed, started, job) for job in jobs])


def _observed(started: Started, job: Job) -> dict[str, Any]:
    from ddtree_doctor.engine.record import recorded
    from ddtree_doctor.engine.start import capture

    started.job = job
    capture(started, runs=smallest(job))
    return asdict(recorded(started))


def _work(jobs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return observed_each([Job(**job) for job in jobs])


if __name__ == "__main__":
    serve(_work)
    os._exit(0)
