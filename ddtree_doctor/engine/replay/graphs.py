"""A decode runner's real CUDA graphs: captured anew in another order or pool, disturbed, and their inputs' addresses.

What SGLang captures largest first into a pool that all its runners share must hold in any order and in a pool of its
own; and a graph must not care what else was captured and destroyed since.

Constraint to preserve: a variant ends with graphs captured, whatever it did.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partialmethod
from typing import Any

import torch

from ddtree_doctor.engine import seams
from ddtree_doctor.engine.buffers import held_tensors

__all__ = ["VARIANTS", "addresses", "check_liveness", "moved"]

OTHERS = 4
SCRATCH = 1 << 20


def _ascending(runner: Any, guard: Any) -> None:
    """Capture anew, smallest first: SGLang goes through the reverse of its list."""
    with _listed(runner, list(reversed(seams.field(runner, "capture list")))):
        _capture_anew(runner)


def _own_pool(runner: Any, guard: Any) -> None:
    """Capture anew into a memory pool that no other runner shares."""
    _capture_anew(runner, pool=torch.cuda.graph_pool_handle())


def _after_other_graphs(runner: Any, guard: Any) -> None:
    """Capture other graphs into the runner's pool, replay and destroy them; the runner's own stay."""
    pool = seams.field(seams.field(runner, "graph backend of a runner"), "graph pool of a backend")
    scratch = torch.ones(SCRATCH, device="cuda")
    for _ in range(OTHERS):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            scratch = scratch * 3.0 - scratch
        graph.replay()
        torch.cuda.synchronize()
        graph.reset()
        scratch = torch.ones(SCRATCH, device="cuda")


def _guarded_intermediates(runner: Any, guard: Any) -> None:
    """Capture anew with guard bands around what Python allocates within the graphs; the guard is told of replays."""
    backend = seams.field(runner, "graph backend of a runner")
    capture_one, replay = backend.capture_one, backend.replay

    def capture(key: Any, *args: Any, **options: Any) -> Any:
        with guard.capturing(key):
            return capture_one(key, *args, **options)

    def replayed(key: Any, *args: Any, **options: Any) -> Any:
        guard.replayed = key
        return replay(key, *args, **options)

    backend.capture_one, backend.replay = capture, replayed
    _capture_anew(runner)


VARIANTS: Mapping[str, Callable[[Any, Any], None]] = {
    "ascending": _ascending,
    "own pool": _own_pool,
    "after other graphs": _after_other_graphs,
    "guarded intermediates": _guarded_intermediates,
}
"""Variant → what it does to a runner, given the process's guard, before scenarios run again."""


def addresses(runner: Any) -> dict[str, int]:
    """`Owner.name` → address of every tensor that a graph of `runner` may have captured as an input."""
    owners = seams.field(runner, "runner's buffers"), seams.field(runner, "runner's attention backend")
    return {f"{owner}.{name}": tensor.data_ptr() for owner, name, tensor in held_tensors(*owners) if tensor.is_cuda}


def moved(before: Mapping[str, int], after: Mapping[str, int]) -> tuple[str, ...]:
    """The tensors that lie at another address than before, by name."""
    return tuple(sorted(name for name in before.keys() & after.keys() if before[name] != after[name]))


def check_liveness() -> bool:
    """Let every capture from now on check at replay that its inputs are still alive; whether this torch can."""
    if "check_input_liveness" not in inspect.signature(torch.cuda.graph.__init__).parameters:
        return False
    torch.cuda.graph.__init__ = partialmethod(torch.cuda.graph.__init__, check_input_liveness=True)
    return True


def _capture_anew(runner: Any, pool: Any = None) -> None:
    backend = seams.field(runner, "graph backend of a runner")
    backend.cleanup()
    torch.cuda.synchronize()
    if pool is not None:
        setattr(backend, seams.FIELDS["graph pool of a backend"][0], pool)
    with seams.find("capture flag")():
        runner.capture()


@contextmanager
def _listed(runner: Any, sizes: list[int]) -> Iterator[None]:
    name = seams.FIELDS["capture list"][0]
    before = getattr(runner, name)
    setattr(runner, name, sizes)
    try:
        yield
    finally:
        setattr(runner, name, before)
