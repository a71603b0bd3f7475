"""The probe process of the replay-gpu tier: the engine on this GPU, its own CUDA graphs, scenarios, what was seen.

A CUDA fault ends a process's use of the GPU, so each cell (algorithm, backend, page size, width) has a process of its
own. What was seen before a fault is answered all the same, the fault beside it.
"""

from __future__ import annotations

import os
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dacite import Config, from_dict

from ddtree_doctor.engine.gpu_host import demand_room
from ddtree_doctor.engine.job import Job
from ddtree_doctor.engine.replay.faults import FAULT, MEMORY, REFUSED, kind_of
from ddtree_doctor.engine.replay.gpu_job import GpuJob
from ddtree_doctor.probe.child import Failed, progress, serve
from ddtree_doctor.replay.record import Access, Behaviour, Pass, Response

if TYPE_CHECKING:
    from ddtree_doctor.engine.replay.suite import Suite
    from ddtree_doctor.engine.start import Started
    from ddtree_doctor.replay.scenario import Scenario

__all__ = ["behaved"]

VARIANT_SCENARIOS = ("captured/", "between/")
"""What runs again after each variant."""

TIMED = 3


def behaved(what: GpuJob) -> list[dict[str, Any]]:
    """The behaviour of the target's verify or decode role as plain data. Raises Failed where nothing can run."""
    job = from_dict(Job, what.start, Config(cast=[tuple]))
    demand_room(what.need_mib)
    times = _Times()
    try:
        from ddtree_doctor.engine.start import opened, prepare

        prepare(job)
        with tempfile.TemporaryDirectory(prefix="tiny-") as folder:
            started = opened(job, Path(folder))
            times.lap("import and arguments")
            return [asdict(_seen(what, started, times))]
    except ImportError as missing:
        raise Failed(f"not installed: {type(missing).__name__}: {missing}") from missing


@dataclass(slots=True)
class _Times:
    """Seconds of each part, for the notes."""

    began: float = field(default_factory=time.monotonic)
    laps: list[str] = field(default_factory=list)
    last: float = field(default_factory=time.monotonic)

    def lap(self, what: str) -> None:
        now = time.monotonic()
        self.laps.append(f"{what} {now - self.last:.1f} s")
        self.last = now


def _seen(what: GpuJob, started: Started, times: _Times) -> Behaviour:
    from ddtree_doctor.engine.replay.graphs import check_liveness
    from ddtree_doctor.engine.start import capture

    guard = _guard(what.guard)
    liveness = check_liveness()
    capture(started, allocating=guard.allocating)
    times.lap("workers and capture")
    found = _blank(what, started)
    if started.failed:
        return replace(_without_graphs(found, started.failed), notes=tuple(times.laps))
    if why := _undriven(started):
        return replace(found, unknown=why, notes=tuple(times.laps))
    overwritten = guard.keep(_named(started))
    run = _Run(what=what, started=started, guard=guard)
    run.go()
    times.lap("scenarios")
    if what.timed:
        run.time_looks()
        times.lap("scenarios again, timed")
    run.variants()
    times.lap("variants")
    notes = [*times.laps, f"check_input_liveness: {'on' if liveness else 'this torch has none'}", *run.notes]
    return replace(
        found,
        dtype=run.suite.dtype,
        page_size=run.ground.page_size,
        width=run.ground.width,
        passes=tuple(run.suite.passes),
        responses=tuple(run.responses),
        accesses=(*overwritten, *run.suite.accesses),
        launches=run.watch.launches,
        moved=run.moved,
        notes=tuple(notes),
        seconds=round(time.monotonic() - times.began, 2),
        unknown=run.unknown,
    )


def _blank(what: GpuJob, started: Started) -> Behaviour:
    return Behaviour(
        host="gpu",
        algorithm=started.job.algorithm,
        role="decode" if started.job.algorithm == "NONE" else "target_verify",
        backend=str(_resolved(started, "attention_backend")),
        dtype=str(started.job.fixed["dtype"]),
        page_size=int(_resolved(started, "page_size") or 1),
        width=0,
    )


def _undriven(started: Started) -> str:
    from ddtree_doctor.engine import seams
    from ddtree_doctor.engine.replay.ground import undriven

    return undriven(seams.field(started.target, "model runner"), started.job.checkpoints)


def _resolved(started: Started, name: str) -> Any:
    from ddtree_doctor.engine.resolve import resolved

    return resolved(started.arguments).get(name)


def _without_graphs(found: Behaviour, error: str) -> Behaviour:
    """What a capture that ended in `error` comes down to: a fault or error is found, the rest is not known."""
    kind = kind_of(error)
    if kind == MEMORY:
        raise Failed(f"out of GPU memory while capturing: {error}; free the GPU, or capture fewer sizes")
    if kind == REFUSED:
        raise Failed(f"attention backend {found.backend} refuses this: {error}")
    return replace(found, passes=(Pass(scenario="capture", step=0, bs=0, error=error),), unknown=_ended(error))


def _ended(error: str) -> str:
    return f"what comes after was not run: {error}"


def _guard(kind: str) -> Any:
    from ddtree_doctor.engine.replay.apart import Apart
    from ddtree_doctor.engine.replay.guard import Guard

    return Apart() if kind == "apart" else Guard(device="cuda" if kind == "bands" else "none")


def _named(started: Started) -> Iterator[tuple[str, Any]]:
    """Every static tensor of the target by name: its graph runner's, attention backend's and pools'."""
    from ddtree_doctor.engine import seams
    from ddtree_doctor.engine.buffers import held_tensors

    runner = seams.field(started.target, "model runner")
    graphs = runner.decode_cuda_graph_runner
    owners = (
        seams.field(graphs, "runner's buffers"),
        seams.field(graphs, "runner's attention backend"),
        graphs,
        runner.attn_backend,
        seams.field(runner, "request pool"),
        runner.token_to_kv_pool,
    )
    return ((f"{owner}.{name}", tensor) for owner, name, tensor in held_tensors(*owners))


@dataclass(slots=True)
class _GuardWatch:
    """Looks at the guard bands after each watched block."""

    guard: Any
    launches: int = 0
    looking: bool = True

    @contextmanager
    def watching(self) -> Iterator[None]:
        self.launches += 1
        yield

    def found(self, scenario: str) -> list[Access]:
        overwritten: list[Access] = self.guard.overwritten(scenario) if self.looking else []
        return overwritten


class _Run:
    """The suite on a started engine, up to its end or to the fault that ends it."""

    def __init__(self, *, what: GpuJob, started: Started, guard: Any) -> None:
        from ddtree_doctor.engine import seams
        from ddtree_doctor.engine.replay import graphs
        from ddtree_doctor.engine.replay.ground import chosen, ground_of
        from ddtree_doctor.engine.replay.weights import spread_weights

        self.what = what
        self.runner = seams.field(started.target, "model runner")
        self.graphs = self.runner.decode_cuda_graph_runner
        spread_weights(self.runner.model, what.seed)
        self.ground = ground_of(self.runner, started.job.algorithm, started.job.context)
        self.scenarios: Sequence[Scenario] = chosen(what, self.ground)
        self.watch = _GuardWatch(guard)
        self.suite = self._suite()
        self.responses: list[Response] = []
        self.notes: list[str] = []
        self.unknown = ""
        self.moved: tuple[str, ...] = ()
        self._addresses = graphs.addresses(self.graphs)

    def go(self) -> None:
        """The scenarios, then the replays with one thing changed; then where the captured inputs lie."""
        from ddtree_doctor.engine.replay import graphs
        from ddtree_doctor.engine.replay.responses import responses

        def changes() -> None:
            trees = len(self.ground.shapes) > 1
            self.responses += responses(self.suite, width=self.ground.width, trees=trees)

        self._stopping_at_faults("scenarios", lambda: self.suite.run(self.scenarios))
        if self.what.responses:
            self._stopping_at_faults("responses", changes)
        self.moved = graphs.moved(self._addresses, graphs.addresses(self.graphs))

    def time_looks(self) -> None:
        """The suite again with and without looks at the guard bands, in turn; the seconds of each are a note."""
        import torch

        seconds: dict[bool, list[float]] = {True: [], False: []}
        kept = len(self.suite.passes)
        for self.watch.looking in (True, False) * TIMED:
            torch.cuda.synchronize()
            began = time.monotonic()
            self._stopping_at_faults("scenarios", lambda: self.suite.run(self.scenarios))
            torch.cuda.synchronize()
            seconds[self.watch.looking].append(time.monotonic() - began)
        del self.suite.passes[kept:]
        self.watch.looking = True
        looking, blind = (min(seconds[kind]) for kind in (True, False))
        self.notes.append(f"suite with guard bands {looking:.3f} s, without looks {blind:.3f} s (best of {TIMED})")

    def variants(self) -> None:
        """Scenarios again after each variant. One that this release does not go through is a note, not a fault."""
        import torch

        from ddtree_doctor.engine.replay.graphs import VARIANTS
        from ddtree_doctor.engine.replay.suite import ENGINE_ERRORS, one_line

        again = [one for one in self.scenarios if one.name.startswith(VARIANT_SCENARIOS)]
        for name in self.what.variants:
            if self.unknown:
                return
            try:
                with torch.no_grad():
                    VARIANTS[name](self.graphs, self.watch.guard)
            except ENGINE_ERRORS as error:
                traceback.print_exc()
                self.notes.append(f"variant {name!r} did not run: {one_line(error)}")
                self.unknown = _ended(one_line(error)) if kind_of(one_line(error)) == FAULT else ""
                return
            renamed = [replace(one, name=f"{name}, {one.name}") for one in again]
            self._stopping_at_faults(name, lambda renamed=renamed: self.suite.run(renamed))

    def _suite(self) -> Suite:
        from ddtree_doctor.engine.replay.suite import one_line, suite_of

        return suite_of(
            self.runner,
            page_size=self.ground.page_size,
            vocabulary=self.ground.vocabulary,
            longest=self.ground.longest,
            seed=self.what.seed,
            watch=self.watch,
            oracle=lambda scenario: scenario.name.startswith(self.what.oracle),
            fatal=lambda error: kind_of(one_line(error)) in (FAULT, MEMORY),
            progress=progress,
        )

    def _stopping_at_faults(self, name: str, work: Any) -> None:
        import torch

        from ddtree_doctor.engine.replay.origin import disown
        from ddtree_doctor.engine.replay.suite import ENGINE_ERRORS, one_line

        if self.unknown:
            return
        try:
            with torch.no_grad():
                work()
        except (*ENGINE_ERRORS, MemoryError) as error:
            traceback.print_exc()
            disown(error)
            self._stopped(name, one_line(error))

    def _stopped(self, name: str, error: str) -> None:
        """An error that was raised on: noted once, as the pass that it ended, except where memory ran out."""
        passes = self.suite.passes
        noted = bool(passes) and passes[-1].error == error
        if kind_of(error) == MEMORY or error.startswith("MemoryError"):
            del passes[len(passes) - noted :]
            self.unknown = f"out of memory: {error}; what comes after was not run"
            return
        if not noted:
            passes.append(Pass(scenario=name, step=0, bs=0, error=error))
        if kind_of(error) == FAULT:
            self.unknown = _ended(error)


def _work(job: dict[str, Any]) -> list[dict[str, Any]]:
    return behaved(from_dict(GpuJob, job, Config(cast=[tuple])))


if __name__ == "__main__":
    serve(_work)
    # After a CUDA fault every destructor would fail again; the answer is given.
    os._exit(0)
