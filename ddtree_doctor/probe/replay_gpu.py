"""Replay a launch's verify passes on a GPU: a process for each cell, and whatever happens in one ends only that one.

After a probe that a CUDA fault or a signal ended, a tiny kernel in a new process proves the GPU usable. Where it is
not, every cell that is left is unknown by name; nothing is retried, and nothing is passed.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from threading import Lock

from ddtree_doctor.contract.model import Settings
from ddtree_doctor.engine.job import Job
from ddtree_doctor.engine.mutants import mutant_file
from ddtree_doctor.engine.plugins import plugin_named
from ddtree_doctor.engine.replay.faults import FAULT, kind_of
from ddtree_doctor.engine.replay.gpu_job import (
    GPU_SIZES,
    SANITIZED_SIZES,
    VARIANTS,
    Cell,
    GpuJob,
    gpu_job,
    gpu_start,
)
from ddtree_doctor.errors import UsageError
from ddtree_doctor.launch.model import Launch
from ddtree_doctor.probe.process import Limits, Outcome, Progress, module, run
from ddtree_doctor.probe.replay import read_behaviours
from ddtree_doctor.replay.record import Access, Behaviour
from ddtree_doctor.replay.sanitizer import complete, read_report

__all__ = ["AT_ONCE", "DISK", "START_S", "Tell", "behave_gpu", "cells", "sanitize"]

AT_ONCE = max(1, min(8, (os.cpu_count() or 1) // 2))
"""Probes side by side: each imports the engine on a core or two, and takes a few GiB of the GPU."""

START_S = 60.0
"""Seconds until a probe says that it is there."""

DISK = 8 << 30
"""Bytes that a probe may write to its folder: compilers of kernels leave much there."""

SANITIZED_SCENARIO = ("captured/2",)
PADDING = 8192
"""Bytes behind each allocation under memcheck, more than a row of any tensor of the tiny models."""

_DEBUG = "DDTREE_DOCTOR_DEBUG"
"""Set, the end of what a failed probe printed goes to standard error."""

_CHILD = "ddtree_doctor.engine.replay.gpu"
_USABLE = "ddtree_doctor.engine.replay.usable"
_SANITIZER = "compute-sanitizer"

Tell = Callable[[Cell], Progress]
"""Gives the progress function of a cell."""


def cells(
    backends: Sequence[str | None] = (), pages: Sequence[int | None] = (), budgets: Sequence[int | None] = ()
) -> tuple[Cell, ...]:
    """Every combination; where none is named, what the launch says."""
    found = product(backends or (None,), pages or (None,), budgets or (None,))
    return tuple(Cell(backend=backend, page_size=page, budget=budget) for backend, page, budget in found)


def behave_gpu(
    launch: Launch,
    settings: Settings,
    *,
    plugin: str | None = None,
    mutant: str | None = None,
    asked: Sequence[Cell] = (Cell(),),
    only: Sequence[str] = (),
    responses: bool = True,
    variants: Sequence[str] = VARIANTS,
    guard: str = "bands",
    timed: bool = False,
    sizes: Sequence[int] = GPU_SIZES,
    at_once: int = AT_ONCE,
    deadline: float = 300.0,
    tell: Tell = lambda cell: lambda *_: None,
) -> tuple[Behaviour, ...]:
    """The behaviour of the launch's target role in each cell, in their order. What goes wrong is a cell's `unknown`.

    `only` are prefixes of scenario names, `at_once` is how many cells run side by side, `timed` asks for the cost of
    guard bands as a note, `deadline` is in seconds for each cell. Raises UsageError for a plugin or
    mutant that does not exist, and for a budget where the algorithm verifies no tree.
    """
    asked_for = {"only": tuple(only), "responses": responses, "variants": tuple(variants)}
    options = {**asked_for, "guard": guard, "timed": timed}
    starts = [_start(launch, settings, cell, plugin, mutant) for cell in asked]
    jobs = [gpu_job(start, sizes=tuple(sizes), **options) for start in starts]
    gate = _Gate()

    def one(at: int) -> Behaviour:
        return gate.passed(asked[at], jobs[at], lambda: _probed(jobs[at], deadline, tell(asked[at])))

    with ThreadPoolExecutor(max_workers=at_once) as pool:
        return tuple(pool.map(one, range(len(asked))))


def sanitize(
    launch: Launch,
    settings: Settings,
    tools: Sequence[str],
    *,
    plugin: str | None = None,
    mutant: str | None = None,
    cell: Cell | None = None,
    only: Sequence[str] = SANITIZED_SCENARIO,
    deadline: float = 600.0,
    tell: Tell = lambda cell: lambda *_: None,
) -> tuple[Behaviour, ...]:
    """One scenario under each tool of compute-sanitizer, one after the other, their reports read.

    Raises UsageError where there is no compute-sanitizer.
    """
    path = shutil.which(_SANITIZER)
    if path is None:
        raise UsageError(f"--sanitizer: {_SANITIZER} is not on PATH; it comes with the CUDA toolkit (bin/{_SANITIZER})")
    asked = cell or Cell()
    options = {"only": tuple(only), "oracle": (), "responses": False, "variants": (), "guard": "apart"}
    job = gpu_job(_start(launch, settings, asked, plugin, mutant), sizes=SANITIZED_SIZES, **options)
    gate = _Gate()

    def under(tool: str) -> Behaviour:
        reports: list[Access] = []
        seen = gate.passed(
            asked, job, lambda: _sanitized(path, tool, job, deadline, tell(asked), reports), sanitizer=tool
        )
        return replace(seen, reports=tuple(reports))

    return tuple(map(under, tools))


def _start(launch: Launch, settings: Settings, cell: Cell, plugin: str | None, mutant: str | None) -> Job:
    chosen = plugin_named(plugin).name if plugin else ""
    return gpu_start(launch, settings, cell, plugin=chosen, mutant=mutant_file(mutant) if mutant else "")


def _probed(job: GpuJob, deadline: float, progress: Progress) -> Outcome:
    limits = Limits(deadline=deadline, start=min(deadline, START_S), disk=DISK)
    return run(module(_CHILD), asdict(job), limits=limits, progress=progress)


def _sanitized(
    path: str, tool: str, job: GpuJob, deadline: float, progress: Progress, reports: list[Access]
) -> Outcome:
    """The outcome of a probe under the tool. What the tool reported is added to `reports`, also where it ended it."""
    with tempfile.TemporaryDirectory(prefix="sanitizer-") as folder:
        log = Path(folder) / "report"
        command = [path, "--tool", tool, "--log-file", str(log), "--print-limit", "1000", *_options(tool)]
        limits = Limits(deadline=deadline, start=min(deadline, 4 * START_S), disk=DISK)
        outcome = run([*command, *module(_CHILD)], asdict(job), limits=limits, progress=progress)
        text = log.read_text(errors="replace") if log.exists() else ""
    reports += read_report(text, ", ".join(job.only))
    if outcome.kind != "ok":
        return replace(outcome, why=f"under {_SANITIZER} {tool}: {outcome.why}")
    cut = "" if complete(text) else f"{_SANITIZER} {tool} came to no summary"
    answer = [{**one, "unknown": one["unknown"] or cut} for one in outcome.answer]
    return replace(outcome, answer=answer)


def _options(tool: str) -> tuple[str, ...]:
    # Errors of API calls that a library makes on purpose and handles are nobody's fault. What is right behind one
    # allocation may be another one, in which every access is fine: padding keeps them apart.
    return ("--report-api-errors", "no", "--padding", str(PADDING)) if tool == "memcheck" else ()


@dataclass(slots=True)
class _Gate:
    """Lets cells run as long as the GPU is usable."""

    unusable: str = ""
    _proving: Lock = field(default_factory=Lock)

    def passed(self, cell: Cell, job: GpuJob, probe: Callable[[], Outcome], *, sanitizer: str = "") -> Behaviour:
        """The cell's behaviour, or why it did not run."""
        outcome = Outcome(kind="failed", why=self.unusable) if self.unusable else probe()
        if outcome.kind != "ok" and os.environ.get(_DEBUG):
            print(f"{cell}: {outcome.why}\n{outcome.log}", file=sys.stderr, flush=True)
        (found,) = read_behaviours(job.start["algorithm"], outcome)
        if outcome.kind != "ok":
            found = _placed(found, cell, job)
        if not self.unusable and _suspicious(outcome, found):
            self._prove(cell, found)
        return replace(found, sanitizer=sanitizer)

    def _prove(self, cell: Cell, found: Behaviour) -> None:
        with self._proving:
            if self.unusable:
                return
            proof = run(module(_USABLE), limits=Limits(deadline=60.0, start=START_S))
            if proof.kind != "ok":
                self.unusable = f"GPU unusable after {cell} ended ({found.unknown[:200]}): {proof.why}"


def _suspicious(outcome: Outcome, found: Behaviour) -> bool:
    """Whether the probe may have left the GPU in a bad state: it faulted, or nobody knows how it ended."""
    errors = (found.unknown, *(one.error for one in found.passes))
    return outcome.kind not in ("ok", "failed") or any(kind_of(error) == FAULT for error in errors)


def _placed(found: Behaviour, cell: Cell, job: GpuJob) -> Behaviour:
    """A behaviour that was not seen, at its place: what was asked for."""
    fixed = job.start["fixed"]
    return replace(
        found,
        host="gpu",
        backend=str(fixed["attention_backend"] or "(the engine's own)"),
        dtype=str(fixed["dtype"]),
        page_size=int(cell.page_size or job.start["page_size"] or 1),
        width=0 if cell.budget is None else cell.budget + 1,
    )
