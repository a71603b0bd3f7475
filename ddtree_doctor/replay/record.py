"""What was seen when scenarios ran: numbers, no judgement. Part of the ledger, on the CPU and on a GPU alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

__all__ = ["Acceptance", "Access", "Behaviour", "Gap", "Pass", "Response", "tolerance"]

EPSILON = {"float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
"""Spacing of numbers near 1."""

SPREADS = 8.0
ROUNDINGS = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Two computations of the same rows, compared: logits and, of a pass, the keys that its rows leave in the cache.

    `largest` is the largest absolute difference, None where one side holds NaN or infinity; `scale` the largest
    absolute logit.
    `spread` is the largest difference between two computations that must agree and differ only in how they were
    batched: the measured noise of this comparison. `row` is the first row that differs by more than the spread allows
    (`tolerance`), None where none does; `top2` the distance of its two best logits in the trusted computation.
    """

    largest: float | None
    scale: float
    spread: float
    row: int | None = None
    top2: float | None = None

    def allowed(self, dtype: str) -> float:
        """What these rows may differ by."""
        return tolerance(self.spread, self.scale, dtype)

    def agrees(self, dtype: str) -> bool:
        """Whether the difference is within what is allowed. NaN and infinity never are."""
        return self.largest is not None and self.largest <= self.allowed(dtype)

    @property
    def size(self) -> float:
        """The largest difference, for ordering and for people: infinity where it is none."""
        return inf if self.largest is None else self.largest


def tolerance(spread: float, scale: float, dtype: str) -> float:
    """8 × the measured spread, and never below 4 roundings of the largest logit: the spread may happen to be 0."""
    return max(SPREADS * spread, ROUNDINGS * EPSILON[dtype] * scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """One verify pass of one scenario.

    `replay` compares the graph's replay with the eager forward, `path` each tree row with a plain forward over prefix
    and path; None where that was not compared. `captured_bs` is the graph's batch size and `key` the engine's own key;
    None and "" where the pass ran eager (`hit` false). `error` is the engine's exception, on one line.
    """

    scenario: str
    step: int
    bs: int
    hit: bool = False
    captured_bs: int | None = None
    key: str = ""
    replay: Gap | None = None
    path: Gap | None = None
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One thing changed between two replays of one graph. `must` is `change` or `keep`: what the logits have to do."""

    name: str
    must: str
    gap: Gap


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """What the engine kept after a verify walk, against the accepted rows: rows of hidden states and KV slots."""

    scenario: str
    accepted: tuple[int, ...]
    kept_hidden: tuple[int, ...] | None = None
    kept_slots: tuple[int, ...] | None = None
    freed_slots: tuple[int, ...] | None = None
    expected_freed: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Memory touched where nothing of the launch's lies: `where` is a kernel and argument, or a buffer's guard band."""

    where: str
    access: str
    offset: int
    size: int
    scenario: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """All that one probe saw of one role, on one host, backend, dtype and page size.

    `host` is `cpu` or `gpu`. `launches` counts the kernel launches that were watched. `moved` names captured inputs
    whose address changed between capture and replay. `sanitizer` is the tool of compute-sanitizer that the probe ran
    under, "" for none, and `reports` what it reported. `unknown` says why nothing, or nothing more, was seen.
    """

    host: str
    algorithm: str
    role: str
    backend: str
    dtype: str
    page_size: int
    width: int
    passes: tuple[Pass, ...] = ()
    responses: tuple[Response, ...] = ()
    acceptances: tuple[Acceptance, ...] = ()
    accesses: tuple[Access, ...] = ()
    launches: int = 0
    moved: tuple[str, ...] = ()
    sanitizer: str = ""
    reports: tuple[Access, ...] = ()
    notes: tuple[str, ...] = field(default=())
    seconds: float = 0.0
    unknown: str = ""

    @property
    def subject(self) -> str:
        """`DDTREE/target_verify on triton`."""
        return f"{self.algorithm}/{self.role} on {self.backend}"
