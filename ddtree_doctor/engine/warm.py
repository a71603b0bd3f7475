"""One opening of the engine for several faults: what they share is done once, then the process forks for each.

Most of a probe's time goes to importing SGLang and resolving arguments. Until the first worker is started the process
has no threads of its own that a fork would lose, so each fault gets a copy of it and leaves no trace in the next.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ddtree_doctor.engine.job import Job
from ddtree_doctor.engine.shape import smallest
from ddtree_doctor.probe.child import Failed, serve

__all__ = ["observed_each"]


def observed_each(jobs: Sequence[Job]) -> list[dict[str, Any]]:
    """For each job `{"answer": its ledger}` or `{"failed": why}`. The jobs may differ in their mutant alone.

    Raises Failed if the engine refuses what they share.
    """
    from ddtree_doctor.engine.start import opened, prepare

    prepare(jobs[0])
    with tempfile.TemporaryDirectory(prefix="tiny-") as folder:
        started = opened(jobs[0], Path(folder))
        return [_in_a_copy(started, job) for job in jobs]


def _in_a_copy(started: Any, job: Job) -> dict[str, Any]:
    sys.stdout.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        with os.fdopen(writer, "w", encoding="utf-8") as pipe:
            json.dump(_said(started, job), pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        text = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        return {"failed": f"killed by {signal.Signals(-status).name}"}
    said: dict[str, Any] = json.loads(text) if text else {"failed": f"exited with status {status} without an answer"}
    return said


def _said(started: Any, job: Job) -> dict[str, Any]:
    from ddtree_doctor.engine.record import recorded
    from ddtree_doctor.engine.start import capture

    started.job = job
    try:
        capture(started, runs=smallest(job.forwards))
        return {"answer": asdict(recorded(started))}
    except Failed as failed:
        return {"failed": str(failed)}
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}


def _work(jobs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return observed_each([Job(**job) for job in jobs])


if __name__ == "__main__":
    serve(_work)
    os._exit(0)
