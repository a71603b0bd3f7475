"""DD305: after the verify walk other rows are kept, or other slots freed, than were accepted."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.replayed import Replayed
from ddtree_doctor.replay.record import Acceptance
from ddtree_doctor.rule import Case, Finding

_KEPT = {"kept_hidden": "hidden rows", "kept_slots": "KV slots"}


class OtherRowsKeptThanAccepted(Replayed):
    """After the verify walk other rows are kept, or other slots freed, than were accepted."""

    code = "DD305"
    why = (
        "The accepted path of a tree is not its first rows. Keeping the first n hands the drafter another token's "
        "hidden state and leaves another token's keys in the cache: accept length falls, or the text changes."
    )
    fix = ("in the engine: gather hidden rows and KV slots by the accepted indices, free all others",)
    references = ("https://github.com/sgl-project/sglang/pull/27509",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """Each acceptance, its hidden rows, its slots and what was freed."""
        for seen in self.behaviours(case):
            for one in seen.acceptances:
                for what, kept, expected in _pairs(one):
                    if kept is not None and kept != expected:
                        yield self.found(
                            seen.subject,
                            f"{one.scenario}: {what} {list(kept)} where the accepted path asks for {list(expected)}",
                            scenario=one.scenario,
                            observed=list(kept),
                            expected=list(expected),
                        )


def _pairs(one: Acceptance) -> Iterator[tuple[str, tuple[int, ...] | None, tuple[int, ...]]]:
    for field, called in _KEPT.items():
        yield f"{called} kept are", getattr(one, field), one.accepted
    if one.expected_freed is not None:
        yield "slots freed are", one.freed_slots, one.expected_freed
