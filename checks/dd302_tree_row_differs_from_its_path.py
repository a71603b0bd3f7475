"""DD302: a node of the tree gets other logits than a plain forward over prefix and path gives."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.replayed import Replayed, numbers, scenes, worst
from ddtree_doctor.replay.record import Behaviour
from ddtree_doctor.rule import Case, Finding


class TreeRowDiffersFromItsPath(Replayed):
    """A node of the tree gets other logits than a plain forward over the prefix and the path to it."""

    code = "DD302"
    required = True
    why = (
        "Verify must answer for each node as if its path were the only text. Where it does not, the mask, the "
        "positions or the KV slots of the tree are wrong, and speculation changes what the model says."
    )
    fix = (
        "an attention backend that reads the tree mask: --attention-backend triton or flashinfer",
        "in the engine: positions are prefix + depth, the mask shows ancestors only, each row writes its own KV slot",
    )
    references = ("https://arxiv.org/abs/2604.12989", "https://github.com/sgl-project/sglang/pull/36196")

    def judge(self, case: Case) -> Iterator[Finding]:
        """The worst pass of each behaviour."""
        for seen in self.behaviours(case):
            yield from self.differing(seen)

    def differing(self, seen: Behaviour) -> Iterator[Finding]:
        """One finding for a behaviour with passes whose rows are not within what the measured spread allows."""
        bad = [(one, one.path) for one in seen.passes if one.path and not one.path.agrees(seen.dtype)]
        if not bad:
            return
        passes = [each for each, _ in bad]
        one, gap = worst(bad)
        yield self.found(
            seen.subject,
            f"{len(bad)} of {len(seen.passes)} passes differ ({scenes(passes)}); the worst, {one.scenario}, by "
            f"{gap.size:.3g} where {gap.allowed(seen.dtype):.3g} is allowed, first in row "
            f"{gap.row}, whose two best logits lie {_apart(gap.top2)} apart",
            scenarios=[each.scenario for each in passes],
            bs=one.bs,
            **numbers(gap, seen.dtype),
        )


def _apart(distance: float | None) -> str:
    return "an unknown distance" if distance is None else f"{distance:.3g}"
