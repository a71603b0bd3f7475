"""DD215: graph admission refuses every batch of a role, silently."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import graphs
from ddtree_doctor.rule import Case, Check, Finding


class WidthGateRefusesEveryBatch(Check):
    """The forward says another width than its graph was captured at, so no batch is ever replayed."""

    code = "DD215"
    tier = "shape"
    why = (
        "can_run_graph refuses a forward whose num_tokens_per_req differs from the captured width. Every step of this "
        "role then runs eagerly: tokens are right, start-up captured graphs that nobody uses, and the speed is lost "
        "without a line in the log."
    )
    fix = ("in the engine: take the runner's width and the forward's num_tokens_per_req from one function",)
    references = ("https://github.com/sgl-project/sglang/pull/31255",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """The width that admission compares against the captured one."""
        for row, _ in graphs(case):
            if row.gate_width is not None and row.gate_width > 0 and row.gate_width != row.tokens_per_bs:
                yield self.found(
                    row.subject,
                    f"num_tokens_per_req is {row.gate_width}; the graph is captured at {row.tokens_per_bs}, so every "
                    "batch is refused and runs eagerly",
                    observed=row.gate_width,
                    expected=row.tokens_per_bs,
                )
