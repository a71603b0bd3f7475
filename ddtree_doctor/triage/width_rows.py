"""Rows for tokens per request: draft against verify, padded against raw, one step against all, chain against tree."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from ddtree_doctor.triage.known import Known
from ddtree_doctor.triage.mismatch import Mismatch
from ddtree_doctor.triage.reading import Reading, assumed, no, verified

__all__ = ["chain", "padding", "steps", "view", "width"]

WIDTH = ("width", "shape-width-mismatch")
PADDING = ("padding", "stale-padding-rows")
STEPS = ("steps", "shape-width-mismatch")
CHAIN = ("chain", "backend-feature-unsupported")
VIEW = ("view", "shape-width-mismatch")

BLOCKS = frozenset({4, 5, 7, 8, 10, 12, 16, 32})
BUDGETS = frozenset({12, 15, 16, 20, 22, 24, 32, 48, 60, 64, 128, 256, 512, 1024})
WIDTH_GUESSES = range(3, 65)
BATCHES_MAX = 1024
VIEW_WIDTH_MAX = 128


def width(size: Mismatch, known: Known) -> Reading | None:
    """Something is sized for the draft's width and meets the verify width, or the other way round."""
    if size.kind not in ("pair", "concat", "capacity"):
        return None
    low, high = sorted((size.had, size.wanted))
    if known.width is not None and known.width == known.verify and known.width > 1:
        return no(WIDTH, f"the graph was captured for {known.width} tokens a request, which is what verify forwards")
    if known.budget is not None and known.block is not None:
        return _width_known(low, high, known.block, known.budget + 1, "budget + 1")
    if known.block is not None and known.draft_tokens not in (None, known.block):
        return _width_known(low, high, known.block, known.draft_tokens or 0, "draft tokens")
    if captured := _captured_otherwise(low, high, known):
        return captured
    if known.algorithm and known.budget is None and known.algorithm != "DDTREE":
        return no(WIDTH, f"{known.algorithm} has no tree budget, so draft and verify are equally wide")
    if low in BLOCKS and high - 1 in BUDGETS and low < high:
        missing = ("the server_args line: algorithm, block size, budget", "the captured and running batch sizes")
        return assumed(
            WIDTH,
            f"{low} is a usual block size and {high} a usual budget + 1",
            missing,
            (low, "block size: what the draft forwards"),
            (high, "budget + 1: what target verify forwards"),
        )
    return no(WIDTH, f"{low} and {high} are not a block size and a budget + 1")


def _captured_otherwise(low: int, high: int, known: Known) -> Reading | None:
    if known.width is None or known.verify is None or known.width == known.verify:
        return None
    factor = _factor(low, high, *sorted((known.width, known.verify)))
    if factor is None:
        return None
    meanings = ((known.width, "captured width"), (known.verify, "verify width"))
    why = "the graph was captured for another width than the algorithm verifies"
    return verified(WIDTH, why, *_times(factor, *meanings))


def _width_known(low: int, high: int, block: int, verify: int, told: str) -> Reading:
    if (factor := _factor(low, high, *sorted((block, verify)))) is None or block == verify:
        return no(WIDTH, f"block size {block} and verify width {verify} give other sizes")
    meanings = ((block, "block size: what the draft forwards"), (verify, f"{told}: what target verify forwards"))
    return verified(WIDTH, f"block size {block}, {told} = {verify}", *_times(factor, *meanings))


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
            if captured in known.graph_sizes or low // each in known.running:
                return verified(PADDING, f"both are multiples of the width {each}", *_padded(low, high, each))
            return assumed(
                PADDING,
                f"both are multiples of the width {each}",
                ("the captured batch sizes",),
                *_padded(low, high, each),
            )
    each = gcd(low, high) if size.kind == "pair" else 1
    apart = high // each - low // each if each in WIDTH_GUESSES else 0
    if known.width or known.verify or not 0 < apart <= max(8, high // each // 3) or high // each > BATCHES_MAX:
        return no(PADDING, f"{low} and {high} are not the same width times two batch sizes")
    return assumed(
        PADDING, f"both are multiples of {each}", ("the width", "the captured batch sizes"), *_padded(low, high, each)
    )


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
    return verified(
        STEPS,
        f"{high} = {low} x steps {known.steps} x topk {known.topk or 1}",
        (low, "one step's rows"),
        (high, "rows of all draft steps: the per-step slice is missing"),
    )


def chain(size: Mismatch, known: Known) -> Reading | None:
    """Code for a chain of steps + 1 is fed with a tree of draft tokens."""
    if size.kind not in ("pair", "concat") or known.steps is None or known.draft_tokens is None:
        return None
    low, high = sorted((size.had, size.wanted))
    linear, tree = known.steps + 1, known.draft_tokens
    if linear == tree or (factor := _factor(low, high, *sorted((linear, tree)))) is None:
        return no(CHAIN, f"steps + 1 = {linear} and draft tokens = {tree} give other sizes")
    return verified(
        CHAIN,
        f"steps {known.steps}, draft tokens {tree}",
        *_times(factor, (linear, "steps + 1: a chain"), (tree, "draft tokens: a tree")),
    )


def view(size: Mismatch, known: Known) -> Reading | None:
    """A reshape by a width that the rows were not made with."""
    if size.kind != "view" or len(size.shape) < 2 or not (rows := size.shape[0]) or not size.had:
        return None
    each, elements = size.had, size.wanted
    if elements % rows or elements % (rows * each) == 0 or each > VIEW_WIDTH_MAX:
        return no(VIEW, f"{elements} elements are not {rows} requests of another width than {each}")
    used = next(
        (w for w in (known.block, known.verify, known.width) if w and w != each and elements // rows % w == 0), None
    )
    if used is None:
        return assumed(
            VIEW,
            f"{each} divides nothing of {elements} / {rows}",
            ("the block size in use and the checkpoint's",),
            (each, "width that this module assumes"),
            (rows, "requests"),
        )
    return verified(
        VIEW,
        f"the rows were made {used} wide",
        (each, "the checkpoint's block size, or an anchor-first width"),
        (used, "width in use"),
        (rows, "requests"),
    )
