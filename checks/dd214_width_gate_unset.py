"""DD214: graph admission cannot compare widths, because the forward does not say its own."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import graphs
from ddtree_doctor.rule import Case, Check, Finding


class WidthGateUnset(Check):
    """The forward does not say its width (it is -1), so graph admission lets any width through."""

    code = "DD214"
    severity = "warning"
    tier = "shape"
    why = (
        "can_run_graph refuses a forward whose num_tokens_per_req differs from the captured width, but only where that "
        "number is positive. Unset, a pass of another width is replayed in a graph that is too small for it."
    )
    fix = ("in the algorithm's verify input: set num_tokens_per_req to the verify width",)
    references = (
        "https://github.com/sgl-project/sglang/pull/31255",
        "https://github.com/sgl-project/sglang/pull/31256",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """The width that admission compares."""
        for row, _ in graphs(case):
            if row.gate_width is not None and row.gate_width <= 0:
                yield self.found(
                    row.subject,
                    f"num_tokens_per_req is {row.gate_width}; the graph is captured at {row.tokens_per_bs}",
                    observed=row.gate_width,
                    expected=row.tokens_per_bs,
                )
