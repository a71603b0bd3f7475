"""What the rules of whole engines share: the trusted run, and where the others part from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from ddtree_doctor.knowledge import NotKnown
from ddtree_doctor.replay.engine_run import Divergence, EngineRun, agreement, allowed, divergences
from ddtree_doctor.rule import Case, Check, Finding

__all__ = ["Whole"]


class Whole(Check):
    """A rule about what `sglang.Engine` says on one host."""

    tier = "replay-cpu"
    host: ClassVar[str] = "cpu"
    required = True

    def judge(self, case: Case) -> Iterator[Finding]:
        """The first token of each prompt that differs from the eager run without speculation, beyond rounding."""
        runs = self.runs(case)
        others = [run for run in runs if self.looks_at(run)]
        if not others:
            raise self.skip(self.nothing)
        trusted = _trusted(runs)
        for run in others:
            if not run.doubt and agreement(trusted, run) == "differs":
                yield self._parted(trusted, run, others)
        for run in others:
            if run.doubt:
                raise NotKnown(run.subject, run.doubt)

    nothing: ClassVar[str]
    """Why there is nothing to look at where no run is of the rule's kind."""

    def looks_at(self, run: EngineRun) -> bool:
        """Whether the rule is about this run."""
        raise NotImplementedError

    def runs(self, case: Case) -> Sequence[EngineRun]:
        """All runs on the rule's host. Raises NotApplicable where the whole engine was not run at all."""
        ledger = case.ledger
        runs = [run for run in ledger.engine_runs if run.host == self.host] if ledger else []
        if not runs:
            raise self.skip("the whole engine was not run: `doctor replay --engine` runs it")
        return runs

    def _parted(self, trusted: EngineRun, run: EngineRun, others: Sequence[EngineRun]) -> Finding:
        limit = allowed(trusted)
        parted = [one for one in divergences(trusted, run) if not one.tie(limit)]
        first = min(parted, key=lambda one: one.position)
        return self.found(
            run.subject,
            f"{len(parted)} of {len(run.texts)} prompts are answered differently, first at token {first.position} of "
            f"prompt {first.prompt}: {_token(first.other)} in place of {_token(first.token)}, whose logit is "
            f"{_gap(first)} ahead where rounding explains {limit:.2g}{_beside(trusted, run, others)}",
            prompt=first.prompt,
            position=first.position,
            token=first.token,
            other=first.other,
            gap=first.gap,
            allowed=limit,
            prompts=[one.prompt for one in parted],
            accept_length=run.accept_length,
        )


def _trusted(runs: Sequence[EngineRun]) -> EngineRun:
    """The eager run without speculation. Raises NotKnown where it failed, or where two of them say two things."""
    equal = [run for run in runs if not run.speculation and not run.graphs]
    if not equal:
        raise NotKnown("whole engine", "no run is eager and without speculation, so there is nothing to trust")
    first = equal[0]
    for run in equal:
        if run.doubt:
            raise NotKnown(run.subject, run.doubt)
        if agreement(first, run) == "differs":
            raise NotKnown(
                first.subject, "two equal runs without speculation say two things, so no difference means anything"
            )
    return first


def _token(token: int | None) -> str:
    return "an end" if token is None else f"token id {token}"


def _gap(one: Divergence) -> str:
    return "an unknown distance" if one.gap is None else f"{one.gap:.3g}"


def _beside(trusted: EngineRun, run: EngineRun, others: Sequence[EngineRun]) -> str:
    """What the same run with graphs on, or off, says."""
    known = [other for other in others if other.graphs != run.graphs and not other.doubt]
    mode = "without graphs" if run.graphs else "with graphs"
    return "".join(f"; {mode} the answers are {_SAYS[agreement(trusted, other)]}" for other in known)


_SAYS = {"same": "the same", "tie": "the same up to ties", "differs": "different too"}
