"""DD219: a batch size of the capture list has no graph."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import graphs, requests
from ddtree_doctor.rule import Case, Check, Finding


class ListedSizeNotCaptured(Check):
    """A batch size stands in the runner's capture list, but no graph of it was captured."""

    code = "DD219"
    tier = "shape"
    why = (
        "Admission looks at the list and at its largest entry, not at the graphs. A batch that is padded to a size "
        "without a graph finds no key at replay and stops the server."
    )
    fix = ("in the engine: capture every size of the list, or drop from the list what is not captured",)
    references = ("https://github.com/vllm-project/vllm/issues/29091",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """The list against the captured graphs, where any was recorded and the capture went through (else DD221)."""
        for row, _ in graphs(case):
            captured = {requests(row, graph) for graph in row.captured}
            missing = [] if row.failed or not captured else [bs for bs in row.capture_bs if bs not in captured]
            if missing:
                yield self.found(
                    row.subject,
                    f"no graph was captured for batch sizes {missing} of the list",
                    missing=missing,
                    captured=sorted(captured),
                )
