"""Every static buffer in an allocation of its own, for compute-sanitizer.

Its memcheck knows what `cudaMalloc` gave out. torch's allocator asks for megabytes and cuts them up, so a store past
the end of one buffer lands in the next and passes. Where each buffer is asked for alone, memcheck sees its end: of the
static buffers in replays, and, as torch's cache is switched off once graphs are captured, of all tensors in eager
passes.

Seam: the CUDA runtime library that torch loaded into this process. Nothing is given back: the process ends.
"""

from __future__ import annotations

import ctypes
from collections.abc import Hashable, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import SimpleNamespace

import torch

from ddtree_doctor.engine.replay.allocations import changing_allocations
from ddtree_doctor.replay.record import Access

__all__ = ["Apart"]


class Apart:
    """Stands where `guard.Guard` stands; what strays is found by the sanitizer, not by a look."""

    replayed: Hashable = None

    def __init__(self) -> None:
        self.runtime = ctypes.CDLL(_runtime())
        self.runtime.cudaMalloc.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t]

    def allocating(self) -> AbstractContextManager[None]:
        """Allocate apart what is allocated in the block."""
        return changing_allocations("cuda", self._moved)

    def capturing(self, graph: Hashable) -> AbstractContextManager[None]:
        """Nothing is allocated apart while a graph captures: the runtime forbids it."""
        return nullcontext()

    def keep(self, named: Iterable[tuple[str, torch.Tensor]]) -> list[Access]:
        """From now on every tensor outside graphs has an allocation of its own too: the eager passes' temporaries."""
        torch.cuda.memory.caching_allocator_enable(False)
        return []

    def overwritten(self, scenario: str) -> list[Access]:
        """Nothing is looked at."""
        return []

    def _moved(self, made: torch.Tensor) -> torch.Tensor:
        size = made.numel() * made.element_size()
        address = ctypes.c_void_p()
        status = self.runtime.cudaMalloc(ctypes.byref(address), size)
        if status:
            raise MemoryError(f"out of memory: cudaMalloc of {size} bytes gave status {status}")
        held = SimpleNamespace(
            __cuda_array_interface__={"shape": (size,), "typestr": "|u1", "data": (address.value, False), "version": 3}
        )
        whole = torch.as_tensor(held, device=made.device)
        return whole.view(made.dtype).view(made.shape).copy_(made)


def _runtime() -> str:
    """The path of the CUDA runtime in this process. Raises FileNotFoundError where none is loaded."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    paths = [line.split(maxsplit=5)[5] for line in lines if "libcudart" in line]
    if not paths:
        raise FileNotFoundError("libcudart: torch loaded no CUDA runtime into this process")
    return paths[0]
