"""A tape: what a CUDA graph is, on the CPU.

A CUDA graph freezes kernels with the addresses and scalars they were launched with; its replay runs no Python. Calling
the captured function again would not be that: it would see attributes that were rebound since capture, which a graph
does not. So the tape records every ATen operator and every Triton launch with its very tensors, and replays those:
results go to the tensors that capture produced. What was rebound after capture stays unseen, as on a GPU.

Constraint to preserve: a tape keeps every tensor that it recorded alive, as a graph's memory pool does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from ddtree_doctor.engine.replay.launches import observing_launches

__all__ = ["Tape"]

ALLOCATIONS = frozenset({"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "empty_permuted"})
"""Operators that only take memory: on a GPU nothing runs for them at replay."""


@dataclass(slots=True)
class Step:
    """One recorded operation and the tensors that its results live in."""

    run: Callable[..., Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    results: tuple[torch.Tensor, ...] = ()


@dataclass(slots=True)
class Tape:
    """The operations of one captured forward, in order."""

    steps: list[Step] = field(default_factory=list)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record what runs in the block; it runs for real."""
        with _Recorder(self.steps), observing_launches(self._launched):
            yield

    def replay(self) -> None:
        """Run the steps again on the very same tensors."""
        with _disable_current_modes(), torch.no_grad():
            for step in self.steps:
                fresh = _tensors(step.run(*step.args, **step.kwargs))
                for kept, new in zip(step.results, fresh, strict=True):
                    if not _same_memory(kept, new):
                        kept.copy_(new)

    def _launched(
        self, executor: Any, proceed: Callable[[], None], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        """Keep the executor itself: at replay its launch is observed like any other (`bounds`)."""
        with _disable_current_modes():
            proceed()
        self.steps.append(Step(run=executor, args=args, kwargs=kwargs))


class _Recorder(TorchDispatchMode):
    """Appends a Step for each operator; those that only allocate run but leave none."""

    def __init__(self, steps: list[Step]) -> None:
        super().__init__()
        self.steps = steps

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if func.overloadpacket.__name__ not in ALLOCATIONS:
            self.steps.append(Step(run=func, args=args, kwargs=kwargs or {}, results=_tensors(out)))
        return out


def _tensors(out: Any) -> tuple[torch.Tensor, ...]:
    return tuple(leaf for leaf in pytree.tree_leaves(out) if isinstance(leaf, torch.Tensor))


def _same_memory(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors share a storage: views and in-place results need no copy."""
    return one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()
