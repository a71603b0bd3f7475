"""Sizes as formulas: an expression over a runner's extents that can be computed and shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ddtree_doctor.knowledge import NotKnown

__all__ = ["BATCH", "CONTEXT", "POOL", "STEPS", "TOKENS", "TOPK", "VOCAB", "WIDTH", "Extents", "Size", "constant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extents:
    """What the buffers of one runner are measured in.

    `batch` is the largest captured batch in requests, `width` the tokens of each. `steps` and `topk` are the draft's,
    `context` the longest sequence in tokens, `vocab` the rows of the model's head, `pool` the requests that may run.
    None where it is not known.
    """

    batch: int
    width: int
    steps: int | None = None
    topk: int | None = None
    context: int | None = None
    vocab: int | None = None
    pool: int | None = None


@dataclass(frozen=True, slots=True)
class Size:
    """A formula. `text` shows it (`batch × width`), `of` computes it; `loose` says that a product needs brackets."""

    text: str
    of: Callable[[Extents], int]
    loose: bool = False

    def __add__(self, other: Size | int) -> Size:
        right = constant(other)
        return Size(f"{self.text} + {right.text}", lambda at: self.of(at) + right.of(at), loose=True)

    def __mul__(self, other: Size) -> Size:
        return Size(f"{self.factor} × {other.factor}", lambda at: self.of(at) * other.of(at))

    @property
    def factor(self) -> str:
        """The text as one factor of a product."""
        return f"({self.text})" if self.loose else self.text


def constant(value: Size | int) -> Size:
    """A number as a formula; a formula stays as it is."""
    return value if isinstance(value, Size) else Size(str(value), lambda _: value)


def _extent(name: str) -> Size:
    def of(at: Extents) -> int:
        value: int | None = getattr(at, name)
        if value is None:
            raise NotKnown(name, "the probe did not record it")
        return value

    return Size(name, of)


BATCH, WIDTH, STEPS, TOPK = _extent("batch"), _extent("width"), _extent("steps"), _extent("topk")
CONTEXT, VOCAB, POOL = _extent("context"), _extent("vocab"), _extent("pool")
TOKENS = BATCH * WIDTH
