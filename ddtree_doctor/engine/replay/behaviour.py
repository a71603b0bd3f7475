"""The probe process of the CPU's replay tier: starts the engine, replays every role's graphs, says what it saw."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dacite import Config, from_dict

from ddtree_doctor.engine.job import Job
from ddtree_doctor.engine.replay.ground import chosen, ground_of, undriven
from ddtree_doctor.engine.replay.job import ReplayJob
from ddtree_doctor.probe.child import Failed, progress, serve
from ddtree_doctor.replay.record import Behaviour

if TYPE_CHECKING:
    from ddtree_doctor.engine.replay.suite import Suite
    from ddtree_doctor.engine.replay.watch import TritonWatch
    from ddtree_doctor.engine.start import Started
    from ddtree_doctor.replay.catalogue import Ground

__all__ = ["behaved", "captured", "seen", "suite_on"]


def behaved(what: ReplayJob) -> list[dict[str, Any]]:
    """The behaviour of each role as plain data, the target's first. Raises Failed where nothing can run."""
    began = time.monotonic()
    job = from_dict(Job, what.start, Config(cast=[tuple]))
    try:
        from ddtree_doctor.engine.start import opened, prepare

        prepare(job)
        with tempfile.TemporaryDirectory(prefix="tiny-") as folder:
            target, *others = seen(what, opened(job, Path(folder)))
    except ImportError as missing:
        raise Failed(f"import failed: {type(missing).__name__}: {missing}") from missing
    return [{**target, "seconds": round(time.monotonic() - began, 2)}, *others]


def seen(what: ReplayJob, started: Started) -> list[dict[str, Any]]:
    """The behaviours of what was `opened`: starts its workers, captures, and runs scenarios and rounds."""
    from ddtree_doctor.engine import seams
    from ddtree_doctor.engine.replay.watch import TritonWatch

    began, watch = time.monotonic(), TritonWatch()
    captured(what, started, watch)
    runner = seams.field(started.target, "model runner")
    ground = ground_of(runner, started.job.algorithm, started.job.context)
    found = Behaviour(
        host=what.host,
        algorithm=started.job.algorithm,
        role="target_verify" if started.job.algorithm != "NONE" else "decode",
        backend="triton",
        dtype=str(runner.dtype).removeprefix("torch."),
        page_size=ground.page_size,
        width=ground.width,
    )
    suite = suite_on(what, started, ground, watch)
    if why := undriven(runner, started.job.checkpoints):
        found = replace(found, notes=(why,))
    else:
        found = _with_passes(what, found, suite, ground)
    found = replace(found, seconds=round(time.monotonic() - began, 2))
    return [asdict(one) for one in _with_rounds(what, found, started, suite, ground)]


def captured(what: ReplayJob, started: Started, watch: TritonWatch) -> None:
    """Capture every graph on a tape, watched. Raises Failed where the engine's capture raises."""
    from ddtree_doctor.engine.backend import captures
    from ddtree_doctor.engine.host import graphs_asked_for
    from ddtree_doctor.engine.replay.tape import Tape
    from ddtree_doctor.engine.replay.weights import spread_all
    from ddtree_doctor.engine.shape import ragged_beyond_backend
    from ddtree_doctor.engine.start import capture

    def runs(runner: Any, _: Any) -> bool:
        return not ragged_beyond_backend(runner) and (what.served or not runner.model_runner.is_draft_worker)

    captures.new_tape = Tape
    with watch.watching():
        capture(started, runs=runs)
    if started.failed:
        raise Failed(f"the engine's capture ended in an error: {started.failed}")
    graphs_asked_for()
    spread_all(started, what.seed)


def suite_on(what: ReplayJob, started: Started, ground: Ground, watch: TritonWatch) -> Suite:
    """Scenarios on the target of what was `captured`. What capture itself touched is among its accesses."""
    from ddtree_doctor.engine import seams
    from ddtree_doctor.engine.replay.suite import suite_of

    return suite_of(
        seams.field(started.target, "model runner"),
        page_size=ground.page_size,
        vocabulary=ground.vocabulary,
        longest=ground.longest,
        seed=what.seed,
        watch=watch,
        accesses=watch.found("capture"),
        oracle=lambda scenario: scenario.name.startswith(what.oracle),
        progress=progress,
    )


def _with_passes(what: ReplayJob, found: Behaviour, suite: Suite, ground: Ground) -> Behaviour:
    import torch

    from ddtree_doctor.engine.replay.responses import responses

    with torch.no_grad():
        suite.run(chosen(what, ground))
        trees = len(ground.shapes) > 1
        changes = tuple(responses(suite, width=ground.width, trees=trees)) if what.responses else ()
    return replace(
        found,
        passes=tuple(suite.passes),
        responses=changes,
        accesses=tuple(suite.accesses),
        launches=suite.watch.launches,
    )


def _with_rounds(
    what: ReplayJob, found: Behaviour, started: Started, suite: Suite, ground: Ground
) -> Iterator[Behaviour]:
    """The target's behaviour with what it accepted, then each draft role's."""
    if not what.served or started.draft is None:
        yield found
        return
    from ddtree_doctor.engine.replay.bounds import Bounds
    from ddtree_doctor.engine.replay.rounds import Rounds
    from ddtree_doctor.engine.replay.watch import TritonWatch

    rounds = Rounds(
        started=started,
        stage=suite.stage,
        watch=lambda: TritonWatch(Bounds(storages=True)),
        dtype=found.dtype,
        longest=ground.longest,
        plain=not found.notes,
    )
    yield from rounds.behaviours(found)


def _work(job: dict[str, Any]) -> list[dict[str, Any]]:
    return behaved(from_dict(ReplayJob, job, Config(cast=[tuple])))


if __name__ == "__main__":
    serve(_work)
    # The engine's threads and destructors have nothing to do with the answer.
    os._exit(0)
