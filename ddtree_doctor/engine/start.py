"""Starts SGLang's own workers in the order of its scheduler, up to captured graphs.

The order is that of `Scheduler.init_model_worker` (managers/scheduler.py): target worker, draft worker, memory pools,
attention backends, graphs; before it what the scheduler's process does (publish, process groups, layers). Recording is
not done here: what was started is returned, for a ledger or a replay.
"""

from __future__ import annotations

import gc
import json
import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ddtree_doctor.engine import gpu_host, host, mutants, ranks, seams
from ddtree_doctor.engine.backend import RecordingBackend, captures
from ddtree_doctor.engine.job import Job
from ddtree_doctor.engine.resolve import server_arguments
from ddtree_doctor.engine.rule_log import RuleLog
from ddtree_doctor.probe.child import Failed

__all__ = ["Started", "capture", "import_workers", "opened", "prepare", "start"]

_PORT = 29555
"""Never opened on the CPU: the process groups are torch's fake ones. On a GPU a free one takes its place."""


@dataclass(slots=True)
class Started:
    """SGLang's workers with their graphs captured.

    `draft` is None where the algorithm has no worker of its own. `backends` are the runners' recording backends in the
    order of capture. `failed` says what capturing raised; what was captured before is there all the same.
    """

    job: Job
    arguments: Any
    algorithm: Any
    target: Any = None
    port: int = _PORT
    draft: Any = None
    backends: list[RecordingBackend] = field(default_factory=list)
    lists: RuleLog = field(default_factory=RuleLog)
    failed: str = ""


def prepare(job: Job) -> None:
    """Make this process one in which SGLang runs on the job's device, with its plugin. Call before importing SGLang."""
    os.environ.update(job.environment)
    os.environ["DDTREE_DOCTOR_GPU_MIB"] = str(job.gpu_mib)
    if job.plugin:
        os.environ["DDTREE_DOCTOR_PLUGIN"] = job.plugin
        os.environ["DDTREE_DOCTOR_PLUGIN_OPTIONS"] = json.dumps(dict(job.values))
    (gpu_host if job.device == "cuda" else host).before_import()
    seams.find("plugin loader")()


def start(job: Job, folder: Path, *, runs: Callable[[Any, Any], bool] | None = None) -> Started:
    """Start the workers of `job` and capture. Call `prepare` first. Tiny checkpoints are written under `folder`.

    `runs` decides which captured forwards really run, given runner and key. Raises Failed where SGLang refuses the
    launch, MovedSeam where it is not built as any known release.
    """
    started = opened(job, folder)
    capture(started, runs=runs)
    return started


def opened(job: Job, folder: Path) -> Started:
    """What comes before the first worker: arguments resolved and published, modules loaded, nothing replaced yet."""
    arguments = server_arguments(job, folder)
    port = gpu_host.free_port() if job.device == "cuda" else _PORT
    ranks.publish(arguments, device=job.device, port=port)
    if job.expert_gather:
        # The scheduler does so where the model has experts; the tiny one has none where the launch's own has.
        seams.find("expert options")(*([arguments] if seams.older() else []))
    started = Started(job, arguments, seams.find("algorithms").from_string(_algorithm(arguments)), port=port)
    import_workers(started)
    # SGLang collects garbage before each capture: half a second each over all that its import left, none of it garbage.
    gc.freeze()
    return started


def capture(
    started: Started,
    *,
    runs: Callable[[Any, Any], bool] | None = None,
    allocating: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> None:
    """Start the workers of what `opened` gave, under its job's mutant, and capture.

    `runs` as for `start`, on the CPU. `allocating` makes a context in which every static buffer is allocated.
    """
    mutants.apply(started.job.mutant)
    if started.job.device == "cpu":
        host.after_import()
        started.backends = captures.backends
        captures.runs = runs or captures.runs
    started.lists.listen()
    _workers(started)
    with allocating():
        _pools(started)
        _attention(started)
        _graphs(started)


def _algorithm(arguments: Any) -> str | None:
    name: str | None = seams.find("speculation options")().speculative_algorithm
    return name


def import_workers(started: Started) -> None:
    """Load the modules that the workers are in, so that what is to be replaced in them is there."""
    seams.find("target worker")
    seams.find("decode runner")
    if started.algorithm.is_ngram():
        seams.replace("n-gram corpus", lambda _: lambda: _EmptyCorpus)
    if not started.algorithm.is_none():
        seams.field(started.algorithm, "algorithm's worker")(started.arguments)


class _EmptyCorpus:
    """SGLang compiles its table of n-grams with a C++ compiler when it starts; no shape hangs on what is in it."""

    def __init__(self, **options: Any) -> None:
        self.options = options


def _workers(started: Started) -> None:
    where = {"gpu_id": 0, "nccl_port": started.port, **ranks.worker_ranks(started.arguments)}
    try:
        started.target = seams.find("target worker")(server_args=started.arguments, **where)
        if not started.algorithm.is_none():
            with ranks.draft_arguments(started.arguments, started.target) as arguments:
                worker = seams.field(started.algorithm, "algorithm's worker")(arguments)
                started.draft = worker(server_args=arguments, target_worker=started.target, **where)
    except (ValueError, NotImplementedError, AssertionError) as refusal:
        traceback.print_exc()
        raise Failed(f"the engine's worker refuses this launch: {type(refusal).__name__}: {refusal}") from refusal


def _pools(started: Started) -> None:
    layout = getattr(started.draft, "draft_parallel_layout", None)
    allocate = seams.field(started.target, "worker's pools")
    allocate(**({} if layout is None else {"draft_parallel_layout": layout}))
    if started.draft is not None:
        pool, allocator = seams.field(started.target, "worker's shared pools")()
        seams.field(started.draft, "worker's pools")(
            memory_pool_config=seams.field(seams.field(started.target, "model runner"), "sizes of the pools"),
            req_to_token_pool=pool,
            token_to_kv_pool_allocator=allocator,
        )


def _attention(started: Started) -> None:
    for worker in filter(None, (started.target, started.draft)):
        seams.field(worker, "worker's attention backends")()


def _graphs(started: Started) -> None:
    import torch

    try:
        with torch.no_grad():
            seams.field(started.target, "worker's graphs")()
            if started.draft is not None:
                # FROZEN_KV_MTP asks here whether its target runs on a GPU, and drafts eagerly where it does not.
                with _device_of(started.target, "cuda"):
                    seams.field(started.draft, "worker's graphs")()
    except Failed:
        raise
    except Exception as error:
        traceback.print_exc()
        started.failed = f"{type(error).__name__}: {_first_line(error)}"


@contextmanager
def _device_of(worker: Any, device: str) -> Iterator[None]:
    before, worker.device = worker.device, device
    try:
        yield
    finally:
        worker.device = before


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [""])[0]
