"""The probe process of the replay tiers: starts the engine, runs scenarios through its graphs, says what it saw."""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dacite import Config, from_dict

from ddtree_doctor.engine.job import Job
from ddtree_doctor.engine.replay.job import ReplayJob
from ddtree_doctor.probe.child import Failed, serve
from ddtree_doctor.replay.catalogue import Ground, catalogue
from ddtree_doctor.replay.record import Access, Behaviour
from ddtree_doctor.replay.scenario import Scenario
from ddtree_doctor.replay.shapes import CHAINS, TREES

if TYPE_CHECKING:
    from ddtree_doctor.engine.start import Started

__all__ = ["behaved", "seen"]

LINEAR = frozenset({"DFLASH", "DSPARK"})
"""Algorithms that verify a chain and whose attention is given no tree mask."""


def behaved(what: ReplayJob) -> dict[str, Any]:
    """The behaviour of the target's verify or decode role as plain data. Raises Failed where nothing can run."""
    began = time.monotonic()
    job = from_dict(Job, what.start, Config(cast=[tuple]))
    try:
        from ddtree_doctor.engine.start import opened, prepare

        prepare(job)
        with tempfile.TemporaryDirectory(prefix="tiny-") as folder:
            found = seen(what, opened(job, Path(folder)))
    except ImportError as missing:
        raise Failed(f"import failed: {type(missing).__name__}: {missing}") from missing
    return {**found, "seconds": round(time.monotonic() - began, 2)}


def seen(what: ReplayJob, started: Started) -> dict[str, Any]:
    """The behaviour of what was `opened`: starts its workers, captures, and runs the scenarios."""
    import torch

    from ddtree_doctor.engine.backend import captures
    from ddtree_doctor.engine.replay.poison import Poison
    from ddtree_doctor.engine.replay.responses import responses
    from ddtree_doctor.engine.replay.stage import Stage
    from ddtree_doctor.engine.replay.suite import Suite
    from ddtree_doctor.engine.replay.tape import Tape
    from ddtree_doctor.engine.replay.weights import spread_weights
    from ddtree_doctor.engine.start import capture

    began, job = time.monotonic(), started.job
    captures.new_tape = Tape
    watch = _TritonWatch()
    with watch.watching():
        capture(started, runs=lambda runner, key: not runner.model_runner.is_draft_worker)
    if started.failed:
        raise Failed(f"the engine's capture ended in an error: {started.failed}")
    _graphs_on_cpu()
    model_runner = started.target.model_runner
    graphs = model_runner.decode_cuda_graph_runner
    spread_weights(model_runner.model, what.seed)
    width = int(getattr(graphs, "captured_req_width", 0) or graphs.num_tokens_per_bs)
    vocabulary = int(model_runner.model_config.vocab_size)
    page = int(model_runner.token_to_kv_pool_allocator.page_size)
    trees = width > 1 and job.algorithm not in LINEAR
    ground = Ground(
        width=width,
        sizes=tuple(graphs.capture_bs),
        context=job.context,
        vocabulary=vocabulary,
        page_size=page,
        shapes=tuple(TREES) if trees else CHAINS,
    )
    suite = Suite(
        stage=Stage(model_runner, graphs, page_size=page, vocabulary=vocabulary, seed=what.seed),
        poison=Poison(graphs, vocabulary=vocabulary, longest=ground.longest),
        watch=watch,
        accesses=watch.found("capture"),
        dtype=str(model_runner.dtype).removeprefix("torch."),
        oracle=lambda scenario: scenario.name.startswith(what.oracle),
    )
    with torch.no_grad():
        suite.run(_chosen(what, ground))
        changes = tuple(responses(suite, width=width, trees=trees)) if what.responses else ()
    found = Behaviour(
        host=what.host,
        algorithm=job.algorithm,
        role="target_verify" if job.algorithm != "NONE" else "decode",
        backend="triton",
        dtype=suite.dtype,
        page_size=page,
        width=width,
        passes=tuple(suite.passes),
        responses=changes,
        accesses=tuple(suite.accesses),
        launches=suite.watch.launches,
        seconds=round(time.monotonic() - began, 2),
    )
    return asdict(found)


def _chosen(what: ReplayJob, ground: Ground) -> tuple[Scenario, ...]:
    if what.scenarios:
        return tuple(Scenario.from_json(one) for one in what.scenarios)
    return tuple(one for one in catalogue(ground, seed=what.seed) if not what.only or one.name.startswith(what.only))


def _graphs_on_cpu() -> None:
    """Let `ModelRunner.forward` ask its graph runner on a CPU for the modes that it asks for on a GPU."""
    from ddtree_doctor.engine import seams

    modes = seams.find("forward modes")
    modes.is_cpu_graph = modes.is_cuda_graph


@dataclass(slots=True)
class _TritonWatch:
    """Bounds of every Triton launch, as accesses."""

    bounds: Any = field(default_factory=lambda: _bounds())

    @property
    def launches(self) -> int:
        return int(self.bounds.launches)

    def watching(self) -> Any:
        return self.bounds.watching()

    def found(self, scenario: str) -> list[Access]:
        strays, self.bounds.strays = self.bounds.strays, []
        return [
            Access(
                where=f"{stray.kernel}, {stray.argument}",
                access=stray.access,
                offset=stray.offset,
                size=stray.size,
                scenario=scenario,
            )
            for stray in strays
        ]


def _bounds() -> Any:
    from ddtree_doctor.engine.replay.bounds import Bounds

    return Bounds()


def _work(job: dict[str, Any]) -> dict[str, Any]:
    return behaved(from_dict(ReplayJob, job, Config(cast=[tuple])))


if __name__ == "__main__":
    serve(_work)
    # The engine's threads and destructors have nothing to do with the answer.
    os._exit(0)
