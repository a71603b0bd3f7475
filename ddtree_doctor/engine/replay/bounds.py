"""Every address that a Triton kernel touches, held against the tensors passed to its launch.

The interpreter has no bounds check of its own: a lane outside its tensor reads or writes what lies there. A launch's
tensors are known, so each active lane's address must lie inside one of them. A lane that does not is recorded and kept
from touching memory, so that the pass goes on and all its faults are found.

Seams: `InterpreterBuilder.create_masked_load`, `create_masked_store`, `create_atomic_rmw`, `create_atomic_cas`
(unmasked and descriptor accesses go through the first two). Triton 3.0 to 3.8.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from triton.runtime import interpreter

from ddtree_doctor.engine.replay.launches import kernel_name, observing_launches, swapped
from ddtree_doctor.engine.replay.pointers import pointed

__all__ = ["Bounds", "Stray"]

KEPT = 20
BYTE_BITS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Stray:
    """One access outside every tensor of its launch.

    `argument` is the tensor nearest to the address, `offset` the distance in bytes from its first byte (negative:
    before it), `size` that tensor's extent in bytes, `lanes` how many lanes of the access strayed.
    """

    kernel: str
    access: str
    argument: str
    offset: int
    size: int
    lanes: int
    program: tuple[int, ...]


@dataclass(slots=True)
class Extent:
    """The bytes [start, end) that a tensor argument spans."""

    name: str
    start: int
    end: int


@dataclass(slots=True)
class Bounds:
    """A watch over launches. `strays` keeps the first KEPT; `count` counts all; `launches` those watched.

    With `storages` a tensor stands for all of the memory that it is a view of: a graph that was captured over the front
    of a static buffer rightly reads further where the batch is longer than at capture.
    """

    storages: bool = False
    strays: list[Stray] = field(default_factory=list)
    count: int = 0
    launches: int = 0
    _kernel: str = ""
    _extents: list[Extent] = field(default_factory=list)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch every launch in the block."""
        builder = interpreter.InterpreterBuilder
        with ExitStack() as stack:
            stack.enter_context(observing_launches(self._launch))
            for name, access, mask_at in (
                ("create_masked_load", "load", 1),
                ("create_masked_store", "store", 2),
                ("create_atomic_rmw", "atomic", 3),
            ):
                guarded = self._guarded(getattr(builder, name), access, mask_at)
                stack.enter_context(swapped(builder, name, guarded))
            exchange = self._unmasked(builder.create_atomic_cas, "atomic")
            stack.enter_context(swapped(builder, "create_atomic_cas", exchange))
            yield

    def _launch(
        self, executor: Any, proceed: Callable[[], None], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        before = self._kernel, self._extents
        names = list(inspect.signature(executor.fn).parameters)
        self._kernel = kernel_name(executor)
        given = (*zip(names, args, strict=False), *kwargs.items())
        self._extents = [extent for name, value in given for extent in _extents(name, value, self.storages)]
        self.launches += 1
        try:
            proceed()
        finally:
            self._kernel, self._extents = before

    def _guarded(self, original: Callable[..., Any], access: str, mask_at: int) -> Callable[..., Any]:
        """`original` with the mask cleared where a lane strays; `mask_at` counts arguments after `self`."""

        def call(builder: Any, *args: Any) -> Any:
            pointers = args[1] if access == "atomic" else args[0]
            mask = args[mask_at]
            astray = self._astray(pointers, mask.data, access)
            if astray is None:
                return original(builder, *args)
            kept = interpreter.TensorHandle(mask.data & ~astray, mask.dtype)
            return original(builder, *args[:mask_at], kept, *args[mask_at + 1 :])

        return call

    def _unmasked(self, original: Callable[..., Any], access: str) -> Callable[..., Any]:
        """A compare-and-swap has no mask to clear: where it strays it is not done and its own value comes back."""

        def call(builder: Any, pointers: Any, compare: Any, value: Any, *rest: Any) -> Any:
            astray = self._astray(pointers, np.ones(pointers.data.shape, dtype=bool), access)
            return original(builder, pointers, compare, value, *rest) if astray is None else value

        return call

    def _astray(self, pointers: Any, mask: Any, access: str) -> np.ndarray[Any, Any] | None:
        """Which active lanes lie in no tensor of the launch, None where all do."""
        width = max(BYTE_BITS, pointers.get_element_ty().primitive_bitwidth) // BYTE_BITS
        addresses = pointers.data.astype(np.int64)
        active = np.broadcast_to(mask, addresses.shape).astype(bool)
        astray = active.copy()
        for extent in self._extents:
            if not astray.any():
                return None
            astray &= ~((addresses >= extent.start) & (addresses + width <= extent.end))
        if not astray.any():
            return None
        self._record(addresses[astray], access)
        return astray

    def _record(self, addresses: np.ndarray[Any, Any], access: str) -> None:
        self.count += 1
        if len(self.strays) >= KEPT:
            return
        address = int(addresses.flat[0])
        nearest = min(
            self._extents,
            key=lambda extent: max(extent.start - address, address - extent.end, 0),
            default=Extent(name="(no tensor)", start=0, end=0),
        )
        self.strays.append(
            Stray(
                kernel=self._kernel,
                access=access,
                argument=nearest.name,
                offset=address - nearest.start,
                size=nearest.end - nearest.start,
                lanes=int(addresses.size),
                program=tuple(int(i) for i in interpreter.interpreter_builder.grid_idx),
            )
        )


def _extents(name: str, value: Any, storages: bool) -> Iterator[Extent]:
    """The extent of a tensor argument, of each in a tuple, of the base of a tensor descriptor; nothing for scalars.

    A table of addresses brings the extents of what lies there along.
    """
    if isinstance(value, tuple):
        for index, part in enumerate(value):
            yield from _extents(f"{name}[{index}]", part, storages)
        return
    tensor = getattr(value, "base", value)
    if not isinstance(tensor, torch.Tensor) or tensor.numel() == 0:
        return
    if storages:
        memory = tensor.untyped_storage()
        yield Extent(name=name, start=memory.data_ptr(), end=memory.data_ptr() + memory.nbytes())
    else:
        last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
        start = tensor.data_ptr()
        yield Extent(name=name, start=start, end=start + (last + 1) * tensor.element_size())
    if tensor.dtype == torch.uint64:
        for at, size in pointed(tensor).items():
            yield Extent(name=f"what {name} points to", start=at, end=at + size)
