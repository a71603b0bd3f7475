"""DD209: the tree mask has fewer elements than a verify pass reads."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import attends_by_triton, graphs, requests, too_small
from ddtree_doctor.ledger import Row
from ddtree_doctor.rule import Case, Check, Finding


class MaskTooSmall(Check):
    """The static tree mask holds fewer elements than the verify pass of the largest captured batch reads."""

    code = "DD209"
    tier = "shape"
    why = (
        "A tree mask has, for each node, one element for every cached token and every node of the tree. A request's "
        "part begins where the one before it ends, so a short mask is read past its end: the first request is right, "
        "the others attend to tokens that they must not see."
    )
    fix = ("in the engine: width × (context + width) elements a request, by the verify width rather than draft tokens",)
    references = (
        "https://github.com/sgl-project/sglang/pull/29581",
        "https://github.com/sgl-project/sglang/issues/6309",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """The mask's buffers, and the mask that each captured graph was given."""
        for row, _ in graphs(case):
            yield from too_small(self, case, row, "mask")
            yield from self.given(case, row)

    def given(self, case: Case, row: Row) -> Iterator[Finding]:
        """Graphs whose mask does not even hold the tree and one cached token of each request."""
        width = row.tokens_per_bs or 0
        short = {
            requests(row, graph): graph.mask_numel
            for graph in row.captured
            if graph.mask_numel is not None and graph.mask_numel < requests(row, graph) * width * (width + 1)
        }
        if short:
            bs, numel = next(iter(short.items()))
            yield self.found(
                row.subject,
                f"at batch size {bs} attention was given a mask of {numel} elements; the tree and one cached token of "
                f"each request need {bs} × {width} × ({width} + 1) = {bs * width * (width + 1)}",
                severity=None if attends_by_triton(case) else "warning",
                observed={str(bs): numel for bs, numel in short.items()},
                width=width,
            )
