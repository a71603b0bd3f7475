"""Rows for what two checkpoints disagree about: vocabulary, hidden size, positions."""

from __future__ import annotations

from math import gcd

from ddtree_doctor.triage.known import Known
from ddtree_doctor.triage.mismatch import Mismatch
from ddtree_doctor.triage.reading import Reading, assumed, no, verified

__all__ = ["hidden", "positions", "vocabulary"]

VOCABULARY = ("vocabulary", "draft-target-config-mismatch")
HIDDEN = ("hidden", "draft-target-config-mismatch")
POSITIONS = ("positions", "draft-target-config-mismatch")

VOCAB_FLOOR = 16_000
VOCAB_GAP = 20
REDUCED_VOCABS = frozenset({32_000, 16_384, 32_768, 65_536})
HIDDEN_RANGE = range(512, 65_537)
HIDDEN_UNIT = 64
MULTIPLE_MAX = 8
POSITION_LIMITS = frozenset({1024, 2048, 4096, 8192, 16_384})


def vocabulary(size: Mismatch, known: Known) -> Reading | None:
    """Logits over the draft vocabulary meet a buffer for the target's."""
    if size.kind not in ("pair", "concat"):
        return None
    low, high = sorted((size.had, size.wanted))
    named = {known.draft_vocab: "draft vocabulary", known.vocab: "vocabulary"}
    if low in named and high in named and low != high:
        return verified(VOCABULARY, "both are vocabularies", (low, f"{named[low]}"), (high, f"{named[high]}"))
    if low < VOCAB_FLOOR or high - low <= VOCAB_GAP or (known.context and known.context in (low, high)):
        return no(VOCABULARY, f"{low} and {high} are not both vocabulary sizes")
    sure = low in REDUCED_VOCABS or high == known.vocab
    why = f"{low} is a usual reduced draft vocabulary" if sure else f"{low} and {high} are as large as vocabularies"
    return assumed(
        VOCABULARY, why, ("vocab_size of both models",), (low, "draft vocabulary"), (high, "the target's vocabulary")
    )


def hidden(size: Mismatch, known: Known) -> Reading | None:
    """Hidden states of one model meet weights or buffers of the other."""
    if size.kind not in ("pair", "concat", "matmul"):
        return None
    low, high = sorted((size.had, size.wanted))
    sizes = {known.hidden, known.draft_hidden} - {None}
    if low in sizes and high in sizes and low != high:
        return verified(HIDDEN, "both are hidden sizes", (low, "hidden size"), (high, "hidden size of the other model"))
    if not _hidden_like(low, high):
        return no(HIDDEN, f"{low} and {high} are not both hidden sizes or small multiples of one")
    part = gcd(low, high)
    if size.kind == "matmul":
        meanings = (
            (size.wanted, f"columns that came in: {size.wanted // part} x {part}"),
            (size.had, f"columns that the draft head's weight takes: {size.had // part} x {part}"),
        )
        return assumed(
            HIDDEN,
            f"{size.wanted} : {size.had} = {size.wanted // part} : {size.had // part}, the hidden size "
            f"being {part}: another kind of draft head",
            ("hidden_size of both models",),
            *meanings,
        )
    return assumed(
        HIDDEN,
        "both look like hidden sizes",
        ("hidden_size of both models",),
        (low, "hidden size"),
        (high, "hidden size"),
    )


def _hidden_like(low: int, high: int) -> bool:
    if low == high or low not in HIDDEN_RANGE or high not in HIDDEN_RANGE:
        return False
    return low % HIDDEN_UNIT == 0 and high % HIDDEN_UNIT == 0 and max(low, high) // gcd(low, high) <= MULTIPLE_MAX


def positions(size: Mismatch, known: Known) -> Reading | None:
    """A position beyond what the draft checkpoint's rotary table holds."""
    if size.kind != "bound":
        return None
    if size.had not in POSITION_LIMITS or (known.context is not None and known.context <= size.had):
        return no(POSITIONS, f"{size.had} is no usual max_position_embeddings below the context length")
    meaning = (size.had, "max_position_embeddings of the draft checkpoint")
    if known.context is None:
        return assumed(
            POSITIONS, f"{size.had} is a usual position limit", ("the context length", "the draft's config"), meaning
        )
    return verified(POSITIONS, f"{size.had} is below the context length {known.context}", meaning)
