"""DD211: a per-step buffer of the draft lacks its topk or steps factor."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import graphs, too_small
from ddtree_doctor.rule import Case, Check, Finding


class StepSlicesTooSmall(Check):
    """A buffer that the draft slices by step lacks a factor of topk or of steps."""

    code = "DD211"
    tier = "shape"
    why = (
        "Each draft step takes its own slice, with one part for every branch of every request. Where the factor of "
        "topk or steps is missing, the later steps' slices lie outside the buffer: right with topk 1, garbage or an "
        "illegal access with a tree."
    )
    fix = ("in the engine: requests × topk × steps for slots, requests × topk × context a step for KV indices",)
    references = (
        "https://github.com/sgl-project/sglang/pull/27338",
        "https://github.com/sgl-project/sglang/issues/24747",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """One finding for each per-step buffer that is too small."""
        for row, _ in graphs(case):
            yield from too_small(self, case, row, "steps")
