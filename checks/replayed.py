"""What the behaviour rules share: the behaviours of one host, and findings grouped so that one fault is one finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from ddtree_doctor.knowledge import NotApplicable, NotKnown
from ddtree_doctor.replay.record import Behaviour, Gap, Pass
from ddtree_doctor.rule import Case, Check

__all__ = ["NAMED", "Replayed", "numbers", "scenes", "worst"]

NAMED = 4
"""Scenarios that a message names; the evidence holds all."""


class Replayed(Check):
    """A rule about behaviours seen on one host."""

    tier = "replay-cpu"
    host: ClassVar[str] = "cpu"

    def behaviours(self, case: Case) -> Iterator[Behaviour]:
        """Each behaviour that was seen on the rule's host; NotKnown follows the last if one was cut short.

        A role that was not replayed, with the reason in its notes, is passed over. Raises NotApplicable where that is
        so of all, or where the launch captures no graph; NotKnown where nothing ran at all.
        """
        graph = case.settings.cuda_graph
        if graph.known and graph.value is False:
            raise NotApplicable("CUDA graphs are off in this launch: nothing is replayed")
        if case.ledger is None:
            raise NotKnown("behaviour", "no replay ran")
        if case.ledger.unknown:
            raise NotKnown("behaviour", case.ledger.unknown)
        seen = [behaviour for behaviour in case.ledger.behaviours if behaviour.host == self.host]
        if not seen:
            raise NotKnown("behaviour", f"no role was replayed on the {self.host}")
        ran = [behaviour for behaviour in seen if behaviour.passes or behaviour.acceptances or behaviour.unknown]
        if not ran:
            raise NotApplicable("; ".join(note for behaviour in seen for note in behaviour.notes) or "no scenario ran")
        yield from ran
        cut = next((behaviour for behaviour in seen if behaviour.unknown), None)
        if cut:
            raise NotKnown(cut.subject, cut.unknown)


def scenes(passes: Sequence[Pass]) -> str:
    """`captured/2, shrink (batch 2) and 3 more`."""
    names = [one.scenario if one.step == 0 else f"{one.scenario} (batch {one.step + 1})" for one in passes]
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def worst(passes: Sequence[tuple[Pass, Gap]]) -> tuple[Pass, Gap]:
    """The pass whose gap is the largest, with it."""
    return max(passes, key=lambda pair: pair[1].size)


def numbers(gap: Gap, dtype: str) -> dict[str, float | int | None]:
    """A gap as evidence."""
    return {
        "largest": gap.largest,
        "allowed": gap.allowed(dtype),
        "spread": gap.spread,
        "scale": gap.scale,
        "first_row": gap.row,
        "top2": gap.top2,
    }
