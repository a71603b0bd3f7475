"""DD208: a static buffer has fewer rows than the largest captured batch."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import graphs, too_small
from ddtree_doctor.rule import Case, Check, Finding


class RunnerBufferTooSmall(Check):
    """A static buffer of a graph runner holds fewer rows than a pass of the largest captured batch."""

    code = "DD208"
    tier = "shape"
    why = (
        "The graph reads and writes its static buffers by address. Past the end of one lie the next buffer's bytes: "
        "small batches are right, and the largest ones get other requests' ids, or an illegal access."
    )
    fix = ("in the engine: size the buffer by the largest captured batch and this role's width",)
    references = ("https://github.com/vllm-project/vllm/pull/56448",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """One finding for each buffer that is too small."""
        for row, _ in graphs(case):
            yield from too_small(self, case, row, "rows")
