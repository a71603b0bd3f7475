"""How large every static buffer must be: formulas of batch, width, steps, topk, context and vocabulary."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ddtree_doctor.contract.buffers.model import KINDS, Demand, Shortfall
from ddtree_doctor.contract.buffers.size import Extents, Size
from ddtree_doctor.contract.buffers.table import DEMANDS, demands
from ddtree_doctor.knowledge import NotKnown
from ddtree_doctor.ledger import Buffer, Ledger, Row

__all__ = ["DEMANDS", "KINDS", "Demand", "Extents", "Shortfall", "Size", "extents", "shortfalls", "unnamed"]


def extents(ledger: Ledger, row: Row) -> Extents:
    """What the buffers of `row` are measured in.

    Batch and width are the runner's own: whether those are right is for other rules, so that one fault gives one
    finding. Raises NotKnown if the row has no width or captured nothing.
    """
    if row.tokens_per_bs is None or not row.capture_bs:
        raise NotKnown(row.subject, "the probe recorded no width or no captured batch size")
    sizes = ledger.sizes
    return Extents(
        batch=max(row.capture_bs),
        width=row.tokens_per_bs,
        steps=sizes.get("steps"),
        topk=sizes.get("topk"),
        context=sizes.get("context_len"),
        vocab=sizes.get("vocab_size"),
        pool=sizes.get("pool_size"),
    )


def shortfalls(ledger: Ledger, row: Row, kinds: Collection[str]) -> Iterator[Shortfall]:
    """The buffers of `row` that are too small, of these `kinds`, the worst of each name, in the table's order.

    Raises NotKnown, after the others were yielded, if a formula needs an extent that is not known.
    """
    at, unknown = extents(ledger, row), None
    for key, demand in demands(row.role).items():
        if demand.kind not in kinds:
            continue
        try:
            short = [found for buffer in _named(row, key) if (found := demand.unmet(buffer, at))]
        except NotKnown as missing:
            unknown = NotKnown(f"{row.subject}, {demand.owner}.{demand.name}", str(missing))
            continue
        yield from sorted(short, key=lambda found: found.buffer.bytes)[:1]
    if unknown:
        raise unknown


def unnamed(row: Row) -> tuple[Buffer, ...]:
    """The buffers that the table does not know, and that are therefore not judged."""
    known = {(demand.owner, demand.name) for demand in DEMANDS}
    return tuple(buffer for buffer in row.buffers if (buffer.owner, buffer.name) not in known)


def _named(row: Row, key: tuple[str, str]) -> Iterator[Buffer]:
    return (buffer for buffer in row.buffers if (buffer.owner, buffer.name) == key)
