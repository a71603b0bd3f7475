"""The ledger: what the engine's own workers and graph runners were seen to do. Plain data, no judgement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ddtree_doctor.replay.engine_run import EngineRun
from ddtree_doctor.replay.record import Behaviour

__all__ = ["Buffer", "Captured", "Ledger", "Row"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """A static buffer of a graph runner or attention backend. `owner` is the object's class."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    owner: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """One captured graph.

    `bs` requests, `tokens` rows of the captured forward (input_ids), `key` the engine's own key as text, `logits_rows`
    rows of the captured output (None where the graph yields none), `mask_numel` elements of the custom mask that the
    attention metadata was given (None where there is none), `inputs` the shape of every tensor of the forward batch.
    """

    bs: int
    tokens: int
    key: str
    logits_rows: int | None = None
    mask_numel: int | None = None
    inputs: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One algorithm × role as observed.

    `tokens_per_bs` is the width the runner believes; `source` is the file and line, inside the engine, of the class
    that sized the graph. `inputs` holds what the capture-list rule was fed (configured list, pool size, attn_tp, cp,
    gather, two_batch_overlap, width) so that the contract can compute the list anew. `gate_width` is the width that
    graph admission compares, -1 where it is unset; `dummy_width` that of the dummy verify input. `failed` is what
    capturing raised, empty where it went through: then `captured` ends early. `unknown` says why nothing was observed:
    then the other fields are empty.
    """

    algorithm: str
    role: str
    worker: str = "target"
    runner: str = ""
    source: str = ""
    mode: str = ""
    tokens_per_bs: int | None = None
    capture_bs: tuple[int, ...] = ()
    mul_base: int | None = None
    gate_width: int | None = None
    dummy_width: int | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)
    captured: tuple[Captured, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    failed: str = ""
    unknown: str = ""

    @property
    def subject(self) -> str:
        """`DDTREE/target_verify`."""
        return f"{self.algorithm}/{self.role}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """All rows of one probe of one launch.

    `substituted` says in words what differed from the real deployment. `resolved` holds the engine's own resolved
    settings. `sizes` holds what buffers are measured against (context_len, vocab_size, hidden_size, pool_size, steps,
    topk, draft_tokens, page_size, capture_hidden…). `unknown` names why the probe as a whole gave nothing
    (`killed by SIGKILL`, `timed out after 60 s`, `moved seam …`). `behaviours` is what replays were seen to do, empty
    below the replay tiers; `engine_runs` what whole engines said, empty where none was asked for.
    """

    algorithm: str
    engine_version: str = ""
    rows: tuple[Row, ...] = ()
    substituted: tuple[str, ...] = ()
    resolved: Mapping[str, Any] = field(default_factory=dict)
    sizes: Mapping[str, Any] = field(default_factory=dict)
    behaviours: tuple[Behaviour, ...] = ()
    engine_runs: tuple[EngineRun, ...] = ()
    seconds: float = 0.0
    unknown: str = ""

    def row(self, role: str) -> Row | None:
        """The row of `role`, None if the probe has none."""
        return next((row for row in self.rows if row.role == role), None)
