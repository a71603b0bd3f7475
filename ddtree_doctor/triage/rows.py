"""The decision table for the two sizes of an error message, in the order in which its rows are to be tried.

Each row looks at one mismatch and at what is known of the deployment, and says whether the sizes are of its kind. A
size that only looks right (a power of two, a vocabulary seen elsewhere) makes a row `assumed`, never `verified`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import gcd

from ddtree_doctor.triage.known import Known
from ddtree_doctor.triage.mismatch import Mismatch
from ddtree_doctor.triage.reading import Reading, assumed, no, verified

__all__ = ["ROWS", "readings"]

CONTEXT = ("context", "context-headroom")
VOCABULARY = ("vocabulary", "draft-target-config-mismatch")
HIDDEN = ("hidden", "draft-target-config-mismatch")
POSITIONS = ("positions", "draft-target-config-mismatch")
BATCH = ("batch", "batch-exceeds-captured-range")
WIDTH = ("width", "shape-width-mismatch")
PADDING = ("padding", "stale-padding-rows")
STEPS = ("steps", "shape-width-mismatch")
CHAIN = ("chain", "backend-feature-unsupported")
VIEW = ("view", "shape-width-mismatch")
LENGTHS = ("lengths", "batch-bookkeeping")

SLACK = 4  # columns that req_to_token holds beyond the draft tokens
DRAFTS_GUESS = 16
CONTEXT_FLOOR = 1024
VOCAB_FLOOR = 16_000
HIDDEN_RANGE = range(512, 65_537)
HIDDEN_UNIT = 64
REDUCED_VOCABS = frozenset({32_000, 16_384, 32_768, 65_536})
BLOCKS = frozenset({4, 5, 7, 8, 10, 12, 16, 32})
BUDGETS = frozenset({12, 15, 16, 20, 22, 24, 32, 48, 60, 64, 128, 256, 512, 1024})
WIDTH_GUESSES = range(3, 65)
BATCHES_MAX = 1024
POSITION_LIMITS = frozenset({1024, 2048, 4096, 8192, 16_384})


def context(size: Mismatch, known: Known) -> Reading | None:
    """Graph metadata as wide as the context meets a request that drafts beyond it."""
    if size.kind not in ("pair", "capacity", "concat"):
        return None
    low, high = sorted((size.had, size.wanted))
    drafts = known.draft_tokens or known.verify or DRAFTS_GUESS
    if low < CONTEXT_FLOOR or not 0 < high - low <= drafts + SLACK:
        return no(CONTEXT, f"{low} and {high} do not differ by at most draft tokens + {SLACK}, or are no context lengths")
    meanings = ((low, "columns of the graph's page table"), (high, f"columns that the request needs: {high - low} more"))
    if known.context is None:
        return assumed(CONTEXT, f"{high} is {high - low} above {low}", ("the context length",), *meanings)
    if abs(low - known.context) > drafts + SLACK:
        return no(CONTEXT, f"the context length is {known.context}")
    return verified(CONTEXT, f"{low} is the context length {known.context} (within {drafts + SLACK})", *meanings)


def vocabulary(size: Mismatch, known: Known) -> Reading | None:
    """Logits over the draft vocabulary meet a buffer for the target's."""
    if size.kind not in ("pair", "concat"):
        return None
    low, high = sorted((size.had, size.wanted))
    named = {known.draft_vocab: "draft vocabulary", known.vocab: "vocabulary"}
    if low in named and high in named and low != high:
        return verified(VOCABULARY, "both are vocabularies", (low, f"{named[low]}"), (high, f"{named[high]}"))
    if low < VOCAB_FLOOR or high - low <= DRAFTS_GUESS + SLACK or (known.context and known.context in (low, high)):
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
        return assumed(HIDDEN, f"{size.wanted} : {size.had} = {size.wanted // part} : {size.had // part}, the hidden size "
                       f"being {part}: another kind of draft head", ("hidden_size of both models",), *meanings)  # fmt: skip
    return assumed(
        HIDDEN, "both look like hidden sizes", ("hidden_size of both models",), (low, "hidden size"), (high, "hidden size")
    )


def _hidden_like(low: int, high: int) -> bool:
    if low == high or low not in HIDDEN_RANGE or high not in HIDDEN_RANGE:
        return False
    return low % HIDDEN_UNIT == 0 and high % HIDDEN_UNIT == 0 and max(low, high) // gcd(low, high) <= 8  # noqa: PLR2004


def positions(size: Mismatch, known: Known) -> Reading | None:
    """A position beyond what the draft checkpoint's rotary table holds."""
    if size.kind != "bound":
        return None
    if size.had not in POSITION_LIMITS or (known.context is not None and known.context <= size.had):
        return no(POSITIONS, f"{size.had} is no usual max_position_embeddings below the context length")
    meaning = (size.had, "max_position_embeddings of the draft checkpoint")
    if known.context is None:
        return assumed(POSITIONS, f"{size.had} is a usual position limit", ("the context length", "the draft's config"), meaning)
    return verified(POSITIONS, f"{size.had} is below the context length {known.context}", meaning)


def batch(size: Mismatch, known: Known) -> Reading | None:
    """A batch above the largest captured one falls back to eager and writes into graph-sized buffers."""
    if size.kind != "pair" or size.had == size.wanted:
        return None
    low, high = sorted((size.had, size.wanted))
    if known.graph_max is None:
        if known.running != high:
            return no(BATCH, "neither the captured batch sizes nor a running batch of that size are in the log")
        return assumed(BATCH, f"{high} requests were running", ("the captured batch sizes",), (low, "largest captured batch?"),
                       (high, "running batch"))  # fmt: skip
    if low != known.graph_max:
        return no(BATCH, f"the largest captured batch is {known.graph_max}")
    meanings = ((low, "largest captured batch"), (high, "running batch"))
    if known.running == high or (known.max_running == high and known.verify != high):
        return verified(BATCH, f"{low} is the largest captured batch and {high} requests were running or allowed", *meanings)
    if known.running is not None and known.running < low:
        return no(BATCH, f"only {known.running} requests were running, {low} are captured")
    return assumed(BATCH, f"{low} is the largest captured batch", ("the running batch",), *meanings)


def width(size: Mismatch, known: Known) -> Reading | None:
    """Something is sized for the draft's width and meets the verify width, or the other way round."""
    if size.kind not in ("pair", "concat", "capacity"):
        return None
    low, high = sorted((size.had, size.wanted))
    if known.width is not None and known.width == known.verify and known.width > 1:
        return no(WIDTH, f"the graph was captured for {known.width} tokens a request, which is what verify forwards")
    if known.budget is not None and known.block is not None:
        return _width_known(low, high, known.block, known.budget)
    if known.width is not None and known.verify is not None and known.width != known.verify:
        if (factor := _factor(low, high, *sorted((known.width, known.verify)))) is not None:
            return verified(WIDTH, "the graph was captured for another width than the algorithm verifies",
                            *_times(factor, (known.width, "captured width"), (known.verify, "verify width")))  # fmt: skip
    if known.algorithm and known.budget is None and known.algorithm != "DDTREE":
        return no(WIDTH, f"{known.algorithm} has no tree budget, so draft and verify are equally wide")
    if low in BLOCKS and high - 1 in BUDGETS and low < high:
        missing = ("the server_args line: algorithm, block size, budget", "the captured and running batch sizes")
        return assumed(WIDTH, f"{low} is a usual block size and {high} a usual budget + 1", missing,
                       (low, "block size: what the draft forwards"), (high, "budget + 1: what target verify forwards"))  # fmt: skip
    return no(WIDTH, f"{low} and {high} are not a block size and a budget + 1")


def _width_known(low: int, high: int, block: int, budget: int) -> Reading:
    verify = budget + 1
    if (factor := _factor(low, high, *sorted((block, verify)))) is None or block == verify:
        return no(WIDTH, f"block size {block} and budget + 1 = {verify} give other sizes")
    meanings = ((block, "block size: what the draft forwards"), (verify, "budget + 1: what target verify forwards"))
    return verified(WIDTH, f"block size {block}, budget {budget}", *_times(factor, *meanings))


def _factor(low: int, high: int, small: int, large: int) -> int | None:
    """The whole number by which `small` and `large` give `low` and `high`, None where there is none."""
    return low // small if small and low % small == 0 and low // small * large == high and low // small else None


def _times(factor: int, *meanings: tuple[int, str]) -> Iterator[tuple[int, str]]:
    for value, meaning in meanings:
        yield (value, meaning) if factor == 1 else (value * factor, f"{factor} requests x {value}: {meaning}")


def padding(size: Mismatch, known: Known) -> Reading | None:
    """One input was padded to the captured batch, another was left at the raw one."""
    if size.kind not in ("pair", "concat"):
        return None
    low, high = sorted((size.had, size.wanted))
    for each in dict.fromkeys(width for width in (known.width, known.verify, known.block) if width and width > 1):
        if low % each == 0 and high % each == 0 and low != high:
            captured = high // each
            if captured in known.graph_sizes or low // each == known.running:
                return verified(PADDING, f"both are multiples of the width {each}", *_padded(low, high, each))
            return assumed(PADDING, f"both are multiples of the width {each}", ("the captured batch sizes",), *_padded(low, high, each))
    each = gcd(low, high) if size.kind == "pair" else 1
    apart = high // each - low // each if each in WIDTH_GUESSES else 0
    if known.width or known.verify or not 0 < apart <= max(8, high // each // 3) or high // each > BATCHES_MAX:
        return no(PADDING, f"{low} and {high} are not the same width times two batch sizes")
    return assumed(PADDING, f"both are multiples of {each}", ("the width", "the captured batch sizes"), *_padded(low, high, each))


def _padded(low: int, high: int, each: int) -> tuple[tuple[int, str], tuple[int, str]]:
    return (low, f"raw batch {low // each} x width {each}"), (high, f"captured batch {high // each} x width {each}")


def steps(size: Mismatch, known: Known) -> Reading | None:
    """The cache locations of all draft steps, where one step's slice was due."""
    if size.kind not in ("pair", "named") or known.steps is None or known.steps * (known.topk or 1) <= 1:
        return None
    low, high = sorted((size.had, size.wanted))
    times = known.steps * (known.topk or 1)
    if not low or high != low * times:
        return no(STEPS, f"{high} is not {low} x steps {known.steps} x topk {known.topk or 1}")
    return verified(STEPS, f"{high} = {low} x steps {known.steps} x topk {known.topk or 1}",
                    (low, "one step's rows"), (high, "rows of all draft steps: the per-step slice is missing"))  # fmt: skip


def chain(size: Mismatch, known: Known) -> Reading | None:
    """Code for a chain of steps + 1 is fed with a tree of draft tokens."""
    if size.kind not in ("pair", "concat") or known.steps is None or known.draft_tokens is None:
        return None
    low, high = sorted((size.had, size.wanted))
    linear, tree = known.steps + 1, known.draft_tokens
    if linear == tree or (factor := _factor(low, high, *sorted((linear, tree)))) is None:
        return no(CHAIN, f"steps + 1 = {linear} and draft tokens = {tree} give other sizes")
    return verified(CHAIN, f"steps {known.steps}, draft tokens {tree}",
                    *_times(factor, (linear, "steps + 1: a chain"), (tree, "draft tokens: a tree")))  # fmt: skip


def view(size: Mismatch, known: Known) -> Reading | None:
    """A reshape by a width that the rows were not made with."""
    if size.kind != "view" or len(size.shape) < 2 or not (rows := size.shape[0]) or not size.had:
        return None
    each, elements = size.had, size.wanted
    if elements % rows or elements % (rows * each) == 0 or each > 128:  # noqa: PLR2004
        return no(VIEW, f"{elements} elements are not {rows} requests of another width than {each}")
    used = next((w for w in (known.block, known.verify, known.width) if w and w != each and elements // rows % w == 0), None)
    if used is None:
        return assumed(VIEW, f"{each} divides nothing of {elements} / {rows}", ("the block size in use and the checkpoint's",),
                       (each, "width that this module assumes"), (rows, "requests"))  # fmt: skip
    return verified(VIEW, f"the rows were made {used} wide", (each, "the checkpoint's block size, or an anchor-first width"),
                    (used, "width in use"), (rows, "requests"))  # fmt: skip


def lengths(size: Mismatch, _: Known) -> Reading | None:
    """Two per-request lists have come apart."""
    if size.kind != "lengths":
        return None
    return verified(LENGTHS, "two per-request lists differ in length", (size.had, f"entries of {size.names[0]}"),
                    (size.wanted, f"entries of {size.names[1]}"))  # fmt: skip


ROWS: tuple[Callable[[Mismatch, Known], Reading | None], ...] = (
    context, vocabulary, hidden, positions, batch, width, padding, steps, chain, view, lengths,
)  # fmt: skip


def readings(sizes: tuple[Mismatch, ...], known: Known) -> tuple[Reading, ...]:
    """What each row says of the first mismatch that any row fits; all that was said where none fits."""
    said: list[Reading] = []
    for size in sizes:
        each = [reading for row in ROWS if (reading := row(size, known)) is not None]
        if any(reading.fit != "no" for reading in each):
            return tuple(each)
        said += each
    return tuple(said)
