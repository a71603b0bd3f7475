"""DD207: a captured forward has another number of rows than batch size × width."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import graphs, requests
from ddtree_doctor.rule import Case, Check, Finding


class CapturedRowsDiffer(Check):
    """A captured forward runs over another number of token rows than batch size × width."""

    code = "DD207"
    tier = "shape"
    why = (
        "The graph's inputs are slices of the runner's buffers. A slice of another length bakes that length into every "
        "kernel of the graph, so a replay leaves rows uncomputed or computes rows that no request owns."
    )
    fix = ("in the engine: slice every input of the captured forward to batch size × width",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """Token rows of each captured graph against the runner's own width."""
        for row, _ in graphs(case):
            width = row.tokens_per_bs or 0
            wrong = [graph for graph in row.captured if width and graph.tokens != requests(row, graph) * width]
            if wrong:
                first = wrong[0]
                yield self.found(
                    row.subject,
                    f"{len(wrong)} of {len(row.captured)} graphs: such as {first.tokens} rows at batch size "
                    f"{first.bs}, where {first.bs} × {width} = {first.bs * width} are demanded",
                    observed={str(graph.bs): graph.tokens for graph in wrong},
                    width=width,
                )
