"""What one buffer must hold, and where an observed one falls short."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ddtree_doctor.contract.buffers.size import Extents, Size
from ddtree_doctor.ledger import Buffer

__all__ = ["KINDS", "Demand", "Shortfall"]

KINDS = ("rows", "mask", "metadata", "steps", "logits", "headroom")


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """The least that one named buffer must hold for a pass of the largest captured batch.

    `dims` has a formula for each axis, None where the axis is the model's own (a head size). `kind` is the rule that
    speaks of it, one of KINDS. `holds` says what it holds; `source` is the engine's function that allocates it. `roles`
    narrows it to these roles, all where empty.
    """

    owner: str
    name: str
    dims: tuple[Size | None, ...]
    kind: str
    holds: str
    source: str
    roles: tuple[str, ...] = ()

    @property
    def attention(self) -> bool:
        """Whether the buffer is an attention backend's, and so says nothing of a launch that runs another."""
        return self.source.startswith("layers/attention/")

    @property
    def formula(self) -> str:
        """`batch × width, vocab`; `…` for an axis that is the model's own."""
        return ", ".join("…" if size is None else size.text for size in self.dims)

    def shape(self, at: Extents) -> tuple[int | None, ...]:
        """The least shape. Raises NotKnown if a formula needs an extent that is not known."""
        return tuple(None if size is None else size.of(at) for size in self.dims)

    def unmet(self, buffer: Buffer, at: Extents) -> Shortfall | None:
        """Where `buffer` falls short, None where it does not. A larger buffer is no fault."""
        needed = self.shape(at)
        if len(buffer.shape) != len(needed):
            least = prod(size for size in needed if size is not None)
            short = None not in needed and prod(buffer.shape) < least
        else:
            short = any(size is not None and seen < size for seen, size in zip(buffer.shape, needed, strict=True))
        return Shortfall(demand=self, buffer=buffer, needed=needed) if short else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """A buffer that is too small: `needed` is the least shape, None for an axis that is the model's own."""

    demand: Demand
    buffer: Buffer
    needed: tuple[int | None, ...]

    @property
    def name(self) -> str:
        """`DecodeInputBuffers.input_ids`."""
        return f"{self.demand.owner}.{self.demand.name}"
