"""DD212: the captured output has fewer logits rows than the pass has tokens."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import graphs, requests, too_small
from ddtree_doctor.ledger import Captured, Row
from ddtree_doctor.rule import Case, Check, Finding

_LAST_ROW = ("draft_extend",)
"""Roles that go on with each request's last accepted token alone: from 0.5.23 its row is taken in the graph, before
behind it. Others need every token's."""


class LogitsRowsTooFew(Check):
    """A graph yields, or its buffer holds, fewer rows of logits than the pass must return."""

    code = "DD212"
    tier = "shape"
    why = (
        "Verification compares every node's logits with the drafted token. With rows by request instead of by token, "
        "or a buffer without room for them, nodes are judged by other nodes' logits."
    )
    fix = ("in the engine: batch size × width rows for verify, one a request for plain decode and draft extend",)
    references = ("https://github.com/sgl-project/sglang/pull/29907",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """The logits buffer, and the rows that each captured graph yields."""
        for row, _ in graphs(case):
            yield from too_small(self, case, row, "logits")
            yield from self.yielded(row)

    def yielded(self, row: Row) -> Iterator[Finding]:
        """Graphs that yield another number of rows."""
        wrong = [graph for graph in row.captured if graph.logits_rows not in (None, *_rows(row, graph))]
        if wrong:
            first = wrong[0]
            yield self.found(
                row.subject,
                f"{len(wrong)} of {len(row.captured)} graphs: such as {first.logits_rows} rows of logits at batch size "
                f"{first.bs}, where {' or '.join(map(str, _rows(row, first)))} are demanded",
                observed={str(graph.bs): graph.logits_rows for graph in wrong},
                expected={str(graph.bs): _rows(row, graph)[0] for graph in wrong},
            )


def _rows(row: Row, graph: Captured) -> tuple[int, ...]:
    every = requests(row, graph) * (row.tokens_per_bs or 1)
    return (graph.bs, every) if row.role in _LAST_ROW else (every,)
