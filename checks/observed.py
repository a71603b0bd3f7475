"""What the shape rules share: the rows that size graphs, and the capture rule applied to what a runner was given."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ddtree_doctor.contract.buffers import shortfalls
from ddtree_doctor.contract.capture import Capture, capture, mul_base
from ddtree_doctor.contract.model import RoleContract
from ddtree_doctor.knowledge import NotApplicable, NotKnown
from ddtree_doctor.ledger import Captured, Ledger, Row
from ddtree_doctor.rule import Case, Check, Finding

__all__ = [
    "LIST_FLAGS",
    "attends_by_triton",
    "demanded_base",
    "fed",
    "graphs",
    "key_size",
    "ledger_of",
    "of_role",
    "recomputed",
    "requests",
    "too_small",
]

_SIZE = re.compile(r"size=(\d{1,9})\b|^(\d{1,9})$")

LIST_FLAGS = ("cuda_graph_bs", "cuda_graph_bs_decode", "cuda_graph_max_bs", "cuda_graph_max_bs_decode")
"""The engine's fields that a launch sets its capture list by, in all releases."""


def ledger_of(case: Case) -> Ledger:
    """The ledger. Raises NotApplicable where the launch captures no graph, NotKnown where nothing was observed."""
    graph = case.settings.cuda_graph
    if graph.known and graph.value is False:
        raise NotApplicable("CUDA graphs are off in this launch: nothing is captured")
    if case.ledger is None:
        raise NotKnown("ledger", "the shape tier did not run")
    if case.ledger.unknown:
        raise NotKnown("ledger", case.ledger.unknown)
    return case.ledger


def of_role(ledger: Ledger, role: str) -> tuple[Row, ...]:
    """Every row of `role` (one a draft layer, where each has a runner); one that says so if there is none."""
    absent = Row(algorithm=ledger.algorithm, role=role, unknown="no graph runner of this role was seen")
    return tuple(row for row in ledger.rows if row.role == role) or (absent,)


def graphs(case: Case) -> tuple[tuple[Row, RoleContract], ...]:
    """Each observed row with its demand, at least one. A row that captured nothing at all is for DD217.

    Raises as `ledger_of`, and NotKnown where no row was observed.
    """
    ledger = ledger_of(case)
    rows = tuple((row, demand) for row, demand in case.observed() if row.capture_bs)
    if not rows:
        why = next((row.unknown for row in ledger.rows if row.unknown), "no role of this algorithm captured a graph")
        raise NotKnown("ledger", why)
    return rows


def key_size(graph: Captured) -> int | None:
    """The size that the engine's key of a graph names, None where it names none."""
    size = _SIZE.search(graph.key)
    return None if size is None else int(size[1] or size[2])


def requests(row: Row, graph: Captured) -> int:
    """The requests that a graph serves, which are not always the batch size of its forward.

    A ragged verify keys its graphs by tokens and captures each with as many slots as it may hold; FROZEN_KV_MTP
    expands its batch by topk and keys it by requests.
    """
    width, size = row.tokens_per_bs or 1, key_size(graph)
    if size is not None and graph.tokens == size * width:
        return size
    ragged = size == graph.tokens != graph.bs and graph.tokens % width == 0
    return graph.tokens // width if ragged else graph.bs


def demanded_base(row: Row) -> int:
    """What batch size × width must be a multiple of, for the ranks that this runner was given."""
    return mul_base(
        two_batch_overlap=fed(row, "two_batch_overlap"),
        gather=fed(row, "gather"),
        attn_tp=fed(row, "attn_tp"),
        attn_cp=fed(row, "attn_cp"),
    )


def recomputed(row: Row) -> Capture:
    """The capture list that follows from what the runner was given.

    `mul_base` is the runner's own where it is known: whether that is right is for another rule.
    """
    return capture(
        fed(row, "configured"),
        pool=fed(row, "pool"),
        width=fed(row, "width"),
        base=row.mul_base or demanded_base(row),
        two_batch_overlap=fed(row, "two_batch_overlap"),
    )


def fed(row: Row, name: str) -> Any:
    """One input of the capture rule. Raises NotKnown if the probe did not record it, or a ledger holds nonsense."""
    value = row.inputs.get(name)
    if value is None:
        raise NotKnown(f"{row.subject}, {name}", "the probe did not record it")
    if not INPUTS[name](value):
        raise NotKnown(f"{row.subject}, {name}", f"the ledger holds {value!r:.60}")
    return value


def _positive(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _sizes(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(map(_positive, value))


def _truth(value: Any) -> bool:
    return isinstance(value, bool)


INPUTS: Mapping[str, Callable[[Any], bool]] = {
    "configured": _sizes,
    **dict.fromkeys(("pool", "width", "attn_tp", "attn_cp"), _positive),
    **dict.fromkeys(("gather", "two_batch_overlap"), _truth),
}
"""Input of the capture rule → whether a value can be one: a ledger may come from a bundle that a user sent in."""


def too_small(check: Check, case: Case, row: Row, kind: str) -> Iterator[Finding]:
    """A finding for each buffer of `row` that is smaller than its formula. Raises as `contract.buffers.shortfalls`.

    It only warns where the buffer is that of the attention backend which stood in for the launch's own.
    """
    if case.ledger is None:
        raise NotKnown("ledger", "the shape tier did not run")
    for short in shortfalls(case.ledger, row, (kind,)):
        needed = ["…" if size is None else size for size in short.needed]
        ours = short.demand.attention and not attends_by_triton(case)
        yield check.found(
            row.subject,
            f"{short.name} ({short.demand.holds}) is {_shape(short.buffer.shape)}; the largest captured batch, "
            f"{max(row.capture_bs)} requests of {row.tokens_per_bs} tokens, needs {_shape(needed)} "
            f"({short.demand.formula})" + (f"; triton stood in for {_backend(case)} here" if ours else ""),
            severity="warning" if ours else None,
            buffer=short.name,
            observed=list(short.buffer.shape),
            expected=list(short.needed),
            formula=short.demand.formula,
            batch=max(row.capture_bs),
            width=row.tokens_per_bs,
            allocated_by=short.demand.source,
        )


def attends_by_triton(case: Case) -> bool:
    """Whether the launch's own attention backend is the one that the probe runs."""
    return case.settings.attention_backend.value == "triton"


def _backend(case: Case) -> str:
    return case.settings.attention_backend.value or "the launch's attention backend"


def _shape(sizes: Iterable[object]) -> str:
    return "[" + ", ".join(map(str, sizes)) + "]"
