"""Guard bands: every static buffer inside a larger tensor, with a canary before it and behind it.

A store past the end of a buffer hits whatever the allocator put there, mostly without a word. In a band it is found at
the next look. Reads are not found as such; what a kernel reads from a band is no plausible number, so its logits differ
or it faults.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
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
    """One buffer of `size` bytes inside `whole` (uint8), from byte BAND on."""

    whole: torch.Tensor
    size: int
    name: str = ""

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
    """All guarded buffers of a process. `device` is the type of device whose allocations are guarded."""

    device: str = "cuda"
    buffers: list[_Guarded] = field(default_factory=list)

    def allocating(self) -> AbstractContextManager[None]:
        """Guard what is allocated in the block."""
        return changing_allocations(self.device, self._guarded)

    @contextmanager
    def capturing(self) -> Iterator[None]:
        """Guard what graphs that are captured in the block allocate on their way. Their memory is not used again."""
        with changing_allocations(self.device, self._intermediate, captured=True):
            yield
        # Not while capturing: then a graph would fill them at each replay, and those of other graphs stay unfilled.
        for one in self.buffers:
            one.fill()

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
        if not self.buffers:
            return []
        # One look at all bands together: a look at each would cost a launch and a wait for each.
        if bool((torch.cat([band for one in self.buffers for band in one.bands]) == CANARY).all()):
            return []
        found = [access for one in self.buffers for access in _accesses(one, scenario)]
        for one in self.buffers:
            one.fill()
        return found

    def _intermediate(self, made: torch.Tensor) -> torch.Tensor:
        return self._banded(made, f"the tensor that {_allocating_line()} allocates")

    def _guarded(self, made: torch.Tensor) -> torch.Tensor:
        inside = self._banded(made)
        self.buffers[-1].fill()
        return inside

    def _banded(self, made: torch.Tensor, name: str = "") -> torch.Tensor:
        size = made.numel() * made.element_size()
        one = _Guarded(torch.empty(BAND + size + BAND, dtype=torch.uint8, device=made.device), size, name)
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
