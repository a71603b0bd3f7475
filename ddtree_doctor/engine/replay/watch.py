"""What looks for stray memory accesses during replays on the CPU: the bounds of every Triton launch, or nothing."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from ddtree_doctor.engine.replay.bounds import Bounds
from ddtree_doctor.replay.record import Access

__all__ = ["TritonWatch", "Unwatched"]


@dataclass(slots=True)
class TritonWatch:
    """Bounds of every Triton launch, as accesses."""

    bounds: Bounds = field(default_factory=Bounds)

    @property
    def launches(self) -> int:
        """Kernel launches that were watched."""
        return self.bounds.launches

    def watching(self) -> Any:
        """A context inside which it looks on."""
        return self.bounds.watching()

    def found(self, scenario: str) -> list[Access]:
        """What it saw since it was last asked, as seen in `scenario`."""
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


class Unwatched:
    """Looks for nothing."""

    launches = 0

    def watching(self) -> Any:
        """A context that changes nothing."""
        return nullcontext()

    def found(self, scenario: str) -> list[Access]:
        """Nothing."""
        return []
