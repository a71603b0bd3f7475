"""DD301: a graph's replay gives other logits than the eager forward of the same batch."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.replayed import Replayed, numbers, scenes, worst
from ddtree_doctor.replay.record import Behaviour
from ddtree_doctor.rule import Case, Finding

DRAFT_ROLES = frozenset({"draft", "draft_extend"})


class ReplayDiffersFromEager(Replayed):
    """A graph's replay gives other logits than the eager forward of the same batch."""

    code = "DD301"
    required = True
    why = (
        "The graph reads something that was not refreshed for this batch: rows beyond the raw batch that kept old "
        "values, a tensor that was bound anew instead of copied into, metadata of another size. The server stays "
        "healthy and answers with wrong tokens."
    )
    fix = (
        "in the engine: copy every input of the pass into the tensors that were captured, padded rows included",
        "--disable-cuda-graph until then",
    )
    references = (
        "https://github.com/sgl-project/sglang/issues/28569",
        "https://github.com/sgl-project/sglang/issues/9687",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """The worst pass of each behaviour."""
        for seen in self.behaviours(case):
            yield from self.differing(seen)

    def differing(self, seen: Behaviour) -> Iterator[Finding]:
        """One finding for a behaviour with passes whose replay is not within what the measured spread allows."""
        bad = [(one, one.replay) for one in seen.passes if one.replay and not one.replay.agrees(seen.dtype)]
        if not bad:
            return
        passes = [each for each, _ in bad]
        one, gap = worst(bad)
        # What a draft gets wrong, verify refuses: accepted tokens are lost, never the text.
        drafted = seen.role in DRAFT_ROLES
        yield self.found(
            seen.subject,
            f"{len(bad)} of {len(seen.passes)} passes differ ({scenes(passes)}); the worst, {one.scenario} with "
            f"{one.bs} requests in the graph for {one.captured_bs}, by {gap.size:.3g} where "
            f"{gap.allowed(seen.dtype):.3g} is allowed, first in row {gap.row}"
            + ("; verify refuses wrong drafts, so this costs accept length and not the text" if drafted else ""),
            severity="warning" if drafted else None,
            scenarios=[each.scenario for each in passes],
            bs=one.bs,
            captured_bs=one.captured_bs,
            **numbers(gap, seen.dtype),
        )
