"""The decision table for the two sizes of an error message, in the order in which its rows are to be tried.

Each row looks at one mismatch and at what is known of the deployment, and says whether the sizes are of its kind. A
size that only looks right (a power of two, a vocabulary seen elsewhere) makes a row `assumed`, never `verified`.
"""

from __future__ import annotations

from collections.abc import Callable

from ddtree_doctor.triage.checkpoint_rows import hidden, positions, vocabulary
from ddtree_doctor.triage.known import Known
from ddtree_doctor.triage.mismatch import Mismatch
from ddtree_doctor.triage.reading import Reading, assumed, no, verified
from ddtree_doctor.triage.width_rows import chain, padding, steps, view, width

__all__ = ["ROWS", "readings"]

CONTEXT = ("context", "context-headroom")
BATCH = ("batch", "batch-exceeds-captured-range")
LENGTHS = ("lengths", "batch-bookkeeping")

SLACK = 4  # columns that req_to_token holds beyond the draft tokens
DRAFTS_GUESS = 16
CONTEXT_FLOOR = 1024


def context(size: Mismatch, known: Known) -> Reading | None:
    """Graph metadata as wide as the context meets a request that drafts beyond it."""
    if size.kind not in ("pair", "capacity", "concat"):
        return None
    low, high = sorted((size.had, size.wanted))
    drafts = known.draft_tokens or known.verify or DRAFTS_GUESS
    if low < CONTEXT_FLOOR or not 0 < high - low <= drafts + SLACK:
        return no(
            CONTEXT, f"{low} and {high} do not differ by at most draft tokens + {SLACK}, or are no context lengths"
        )
    meanings = (
        (low, "columns of the graph's page table"),
        (high, f"columns that the request needs: {high - low} more"),
    )
    if known.context is None:
        return assumed(CONTEXT, f"{high} is {high - low} above {low}", ("the context length",), *meanings)
    if abs(low - known.context) > drafts + SLACK:
        return no(CONTEXT, f"the context length is {known.context}")
    return verified(CONTEXT, f"{low} is the context length {known.context} (within {drafts + SLACK})", *meanings)


def batch(size: Mismatch, known: Known) -> Reading | None:
    """A batch above the largest captured one falls back to eager and writes into graph-sized buffers."""
    if size.kind != "pair" or size.had == size.wanted:
        return None
    low, high = sorted((size.had, size.wanted))
    if known.graph_max is None:
        if high not in known.running:
            return no(BATCH, "neither the captured batch sizes nor a running batch of that size are in the log")
        return assumed(
            BATCH,
            f"{high} requests were running",
            ("the captured batch sizes",),
            (low, "largest captured batch?"),
            (high, "running batch"),
        )
    if low != known.graph_max:
        return no(BATCH, f"the largest captured batch is {known.graph_max}")
    meanings = ((low, "largest captured batch"), (high, "running batch"))
    if high in known.running or (known.max_running == high and known.verify != high):
        return verified(
            BATCH, f"{low} is the largest captured batch and {high} requests were running or allowed", *meanings
        )
    if known.running and max(known.running) < low:
        return no(BATCH, f"only {max(known.running)} requests were running, {low} are captured")
    return assumed(BATCH, f"{low} is the largest captured batch", ("the running batch",), *meanings)


def lengths(size: Mismatch, _: Known) -> Reading | None:
    """Two per-request lists have come apart."""
    if size.kind != "lengths":
        return None
    return verified(
        LENGTHS,
        "two per-request lists differ in length",
        (size.had, f"entries of {size.names[0]}"),
        (size.wanted, f"entries of {size.names[1]}"),
    )


ROWS: tuple[Callable[[Mismatch, Known], Reading | None], ...] = (
    context,
    vocabulary,
    hidden,
    positions,
    batch,
    width,
    padding,
    steps,
    chain,
    view,
    lengths,
)


def readings(sizes: tuple[Mismatch, ...], known: Known) -> tuple[Reading, ...]:
    """What each row says of the first mismatch that any row fits; all that was said where none fits."""
    said: list[Reading] = []
    for size in sizes:
        each = [reading for row in ROWS if (reading := row(size, known)) is not None]
        if any(reading.fit != "no" for reading in each):
            return tuple(each)
        said += each
    return tuple(said)
