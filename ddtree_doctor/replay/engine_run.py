"""What a whole engine said in one run, and where two runs part. Plain data, no judgement. Part of the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from ddtree_doctor.replay.record import tolerance

__all__ = [
    "Divergence",
    "EngineRun",
    "Text",
    "agreement",
    "allowed",
    "divergences",
    "first_divergence",
    "largest_difference",
    "trusted_of",
]

Pair = tuple[float, float]
"""The two best log-probabilities at a token, the best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """The new tokens of one prompt; `best` has their two best log-probabilities, and is empty where none were asked."""

    tokens: tuple[int, ...]
    best: tuple[Pair, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRun:
    """One start of the engine and what it said to its prompts, greedily.

    `algorithm` is NONE where speculation is off, `number` tells equal runs apart. `spread` is the largest difference
    between a token's best log-probabilities in decode and in a prefill of the same text: what rounding alone does
    here; None where it was not measured. `accept_length` is tokens per verify pass, None without any. `replays` counts
    the graphs that were replayed. `seconds` is for the whole run. `unknown` says why there are no texts.
    """

    host: str
    algorithm: str
    speculation: bool
    graphs: bool
    number: int
    backend: str
    dtype: str
    texts: tuple[Text, ...] = ()
    spread: float | None = None
    accept_length: float | None = None
    replays: int = 0
    seconds: float = 0.0
    unknown: str = ""

    @property
    def doubt(self) -> str:
        """Why the run shows nothing of its graph mode, "" where it does."""
        if self.unknown:
            return self.unknown
        if self.graphs and not self.replays:
            return "no graph was replayed: the engine ran eager with its graphs on"
        if self.replays and not self.graphs:
            return f"{self.replays} graphs were replayed with graphs off"
        return ""

    @property
    def subject(self) -> str:
        """`NGRAM with graphs`."""
        return f"{self.algorithm} {'with graphs' if self.graphs else 'eager'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """Where the answer to one prompt first differs: `token` in the trusted run, `other` in the other.

    None for a token where that run had ended. `gap` is the distance of the two best logits there in the trusted run,
    None where it is not known.
    """

    prompt: int
    position: int
    token: int | None
    other: int | None
    gap: float | None

    def tie(self, allowed: float) -> bool:
        """Whether rounding may have chosen: two tokens whose logits are no more than `allowed` apart."""
        ended = self.token is None or self.other is None
        return not ended and self.gap is not None and self.gap <= allowed


def divergences(trusted: EngineRun, other: EngineRun) -> Iterator[Divergence]:
    """The first difference of each prompt that is answered differently."""
    pairs = zip_longest(trusted.texts, other.texts, fillvalue=Text(tokens=()))
    for prompt, (one, two) in enumerate(pairs):
        position = _parting(one.tokens, two.tokens)
        if position is not None:
            yield Divergence(
                prompt=prompt,
                position=position,
                token=_at(one.tokens, position),
                other=_at(two.tokens, position),
                gap=_gap(one, position),
            )


def trusted_of(runs: Sequence[EngineRun]) -> EngineRun | None:
    """The run that others are held against: eager, without speculation, the first; None where it said nothing."""
    first = next((run for run in runs if not run.speculation and not run.graphs), None)
    return None if first is None or first.doubt else first


def agreement(trusted: EngineRun, other: EngineRun) -> str:
    """How `other` answers: the `same`, otherwise only where rounding may choose (`tie`), or it `differs`."""
    parted = list(divergences(trusted, other))
    if any(not one.tie(allowed(trusted)) for one in parted):
        return "differs"
    return "tie" if parted else "same"


def first_divergence(trusted: EngineRun, other: EngineRun) -> Divergence | None:
    """The earliest divergence over all prompts: a tie only where there is nothing else, None where all is the same."""
    limit = allowed(trusted)
    return min(divergences(trusted, other), key=lambda one: (one.tie(limit), one.position), default=None)


def allowed(trusted: EngineRun) -> float:
    """The gap below which rounding may choose another token than the trusted run did."""
    scale = max((abs(value) for text in trusted.texts for pair in text.best for value in pair), default=0.0)
    return tolerance(trusted.spread or 0.0, scale, trusted.dtype)


def largest_difference(one: Sequence[Pair], two: Sequence[Pair]) -> float:
    """The largest difference of log-probabilities at the same token, 0 where there are none in common."""
    pairs = ((a, b) for first, second in zip(one, two, strict=False) for a, b in zip(first, second, strict=True))
    return max((abs(a - b) for a, b in pairs), default=0.0)


def _parting(one: Sequence[int], two: Sequence[int]) -> int | None:
    if one == two:
        return None
    shorter = min(len(one), len(two))
    return next((at for at in range(shorter) if one[at] != two[at]), shorter)


def _at(tokens: Sequence[int], position: int) -> int | None:
    return tokens[position] if position < len(tokens) else None


def _gap(text: Text, position: int) -> float | None:
    if position >= len(text.best):
        return None
    first, second = text.best[position]
    return first - second
