"""Guard bands: every static buffer inside a larger tensor, with a canary before it and behind it.

A store past the end of a buffer hits whatever the allocator put there, mostly without a word. In a band it is found at
the next look. Reads are not found as such; what a kernel reads from a band is no plausible number, so its logits differ
or it faults.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import torch

from ddtree_doctor.engine.replay.allocations import changing_allocations
from ddtree_doctor.replay.record import Access

__all__ = ["BAND", "CANARY", "Guard"]

BAND = 8192
"""Bytes on each side: keeps every alignment, and is wider than a row of most buffers."""

CANARY = 0x5C


@dataclass(slots=True)
class _Guarded:
    """One buffer of `size` bytes inside `whole` (uint8), from byte BAND on; `graph` is the one that it lives in."""

    whole: torch.Tensor
    size: int
    name: str = ""
    graph: Hashable = None

    def holds(self, address: int) -> bool:
        return 0 <= address - self.whole.data_ptr() - BAND < self.size

    @property
    def bands(self) -> tuple[torch.Tensor, torch.Tensor]:
        return self.whole[:BAND], self.whole[BAND + self.size :]

    def fill(self) -> None:
        for band in self.bands:
            band.fill_(CANARY)


@dataclass(slots=True)
class Guard:
    """All guarded buffers of a process. `device` is the type of device whose allocations are guarded.

    `replayed` is the graph that was replayed since the last look. Graphs share memory: what one allocates on its way
    another may overwrite by rights, so that the bands of its intermediates hold right after its own replay alone.
    """

    device: str = "cuda"
    buffers: list[_Guarded] = field(default_factory=list)
    replayed: Hashable = None

    def allocating(self) -> AbstractContextManager[None]:
        """Guard what is allocated in the block."""
        return changing_allocations(self.device, self._guarded)

    def capturing(self, graph: Hashable) -> AbstractContextManager[None]:
        """Guard what `graph`, which is captured in the block, allocates on its way; each replay fills its bands."""
        return changing_allocations(self.device, partial(self._intermediate, graph), captured=True)

    def keep(self, named: Iterable[tuple[str, torch.Tensor]]) -> list[Access]:
        """Keep the buffers that lie behind `named` tensors, by these names, and forget all others (temporaries).

        What had been overwritten by then, while graphs were captured, is returned.
        """
        for name, tensor in named:
            found = next((one for one in self.buffers if one.holds(tensor.data_ptr())), None)
            if found is not None and not found.name:
                found.name = name
        self.buffers = [one for one in self.buffers if one.name]
        return self.overwritten("capture")

    def overwritten(self, scenario: str) -> list[Access]:
        """One access for each band that is no longer whole; the bands are whole again afterwards."""
        looked = [one for one in self.buffers if one.graph in (None, self.replayed)]
        self.replayed = None
        # One look at all bands together: a look at each would cost a launch and a wait for each.
        if not looked or bool((torch.cat([band for one in looked for band in one.bands]) == CANARY).all()):
            return []
        found = [access for one in looked for access in _accesses(one, scenario)]
        for one in looked:
            one.fill()
        return found

    def _intermediate(self, graph: Hashable, made: torch.Tensor) -> torch.Tensor:
        return self._guarded(made, name=f"the tensor that {_allocating_line()} allocates", graph=graph)

    def _guarded(self, made: torch.Tensor, name: str = "", graph: Hashable = None) -> torch.Tensor:
        size = made.numel() * made.element_size()
        whole = torch.empty(BAND + size + BAND, dtype=torch.uint8, device=made.device)
        one = _Guarded(whole=whole, size=size, name=name, graph=graph)
        one.fill()
        self.buffers.append(one)
        return one.whole[BAND : BAND + size].view(made.dtype).view(made.shape).copy_(made)


def _accesses(one: _Guarded, scenario: str) -> Iterator[Access]:
    before, behind = one.bands
    for side, band, start in (("before", before, -BAND), ("behind", behind, one.size)):
        changed = (band != CANARY).nonzero()
        if changed.numel():
            yield Access(
                where=f"guard band {side} {one.name}",
                access="store",
                offset=start + int(changed[-1 if side == "before" else 0]),
                size=one.size,
                scenario=scenario,
            )


def _allocating_line() -> str:
    """`extend_attention.py:512`: the innermost line of SGLang that is running."""
    frame = sys._getframe()
    while frame.f_back is not None and "sglang" not in Path(frame.f_code.co_filename).parts:
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
