"""DD221: capturing a role's graphs raises."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ddtree_doctor.checks.observed import attends_by_triton, ledger_of
from ddtree_doctor.knowledge import NotKnown
from ddtree_doctor.rule import Case, Check, Finding

_SHAPE_ERROR = re.compile(
    r"size of tensor|is invalid for input of size|shapes cannot be multiplied|must match the (existing|expanded) size"
    r"|must be the same size as output size|out of bounds|out of range|split_with_sizes|shape mismatch|dimension"
)


class CaptureRaises(Check):
    """Capturing a role's graphs raises an error of shapes, or stops for another reason (then UNKNOWN)."""

    code = "DD221"
    confidence = "likely"
    tier = "shape"
    required = True
    why = (
        "Graphs are captured before the server answers its first request. An error of shapes is raised by the "
        "arithmetic of widths and batch sizes, which is the launch's own; so is a message that blames "
        "mem-fraction-static, which the engine adds whatever the cause."
    )
    fix = (
        "--disable-cuda-graph, to see whether it is the capture alone",
        "in the engine: the line that the error names",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """What capturing raised, role by role. Under another attention backend than the launch's it proves nothing."""
        stopped = [row for row in ledger_of(case).rows if row.failed]
        evident = [row for row in stopped if attends_by_triton(case) and _SHAPE_ERROR.search(row.failed)]
        for row in evident:
            done = sorted(graph.bs for graph in row.captured)
            yield self.found(
                row.subject,
                f"{row.runner} stopped after batch sizes {done} of {list(row.capture_bs)}: {row.failed}",
                error=row.failed,
                captured=done,
                runner=row.runner,
                source=row.source,
            )
        for row in stopped:
            if row not in evident:
                raise NotKnown(f"capture of {row.subject}", row.failed)
