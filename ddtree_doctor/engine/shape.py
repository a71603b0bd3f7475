"""The probe process of the shape tier: starts the engine for one job and answers with its ledger."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ddtree_doctor.engine import seams
from ddtree_doctor.engine.job import Job
from ddtree_doctor.probe.child import Failed, serve

__all__ = ["observed", "ragged_beyond_backend", "smallest"]

_MOST_TOKENS = 128
"""Tokens of the largest forward that is run: a list may begin far above what an interpreter does in seconds."""


def observed(job: Job) -> dict[str, Any]:
    """The ledger of `job` as plain data. Raises Failed, with the reason, where there is none."""
    began = time.monotonic()
    try:
        from ddtree_doctor.engine.host import keep_garbage
        from ddtree_doctor.engine.start import prepare, start

        keep_garbage()
        prepare(job)
        from ddtree_doctor.engine.record import recorded

        with tempfile.TemporaryDirectory(prefix="tiny-") as folder:
            ledger = recorded(start(job, Path(folder), runs=smallest(job)))
    except ImportError as missing:
        raise Failed(f"import failed: {type(missing).__name__}: {missing}") from missing
    return asdict(replace(ledger, seconds=round(time.monotonic() - began, 2)))


def smallest(job: Job) -> Callable[[Any, int], bool]:
    """Whether a size is among the smallest of its runner that `job` wants run: every kernel runs in an interpreter."""

    def runs(runner: Any, size: int) -> bool:
        count = job.draft_forwards if runner.model_runner.is_draft_worker else job.forwards
        listed = sorted(seams.field(runner, "capture list"))[:count]
        few = size * seams.field(runner, "captured width") <= _MOST_TOKENS
        return few and size in listed and not ragged_beyond_backend(runner)

    return runs


def ragged_beyond_backend(runner: Any) -> bool:
    """Whether this is a ragged verify under a backend that has no graphs for one, as the stand-in triton has none.

    SGLang captures it all the same, and admits no batch to it; its kernels would read rows that are not there.
    """
    ragged = getattr(runner, "ragged_verify_mode", False)
    return bool(ragged) and not getattr(runner.attn_backend, "supports_ragged_verify_graph", False)


def _work(job: dict[str, Any]) -> dict[str, Any]:
    return observed(Job(**job))


if __name__ == "__main__":
    serve(_work)
    # The engine's threads and destructors have nothing to do with the answer.
    os._exit(0)
