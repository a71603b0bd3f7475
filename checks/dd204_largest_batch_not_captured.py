"""DD204: the largest batch that may run has no graph."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import LIST_FLAGS, graphs, recomputed
from ddtree_doctor.rule import Case, Check, Finding


class LargestBatchNotCaptured(Check):
    """The largest batch size that the configuration asks for has no graph."""

    code = "DD204"
    tier = "shape"
    why = (
        "The pool of requests is rounded up to a multiple of mul_base and captured itself, so that a full batch has a "
        "graph. Without it every full batch runs eagerly, at a multiple of the time, and no line in the log says so."
    )
    fix = (
        "in the engine: round the request pool up to a multiple of mul_base before the list is cut to it",
        "--max-running-requests: lower it to the largest captured size",
    )
    references = (
        "https://github.com/sgl-project/sglang/pull/37531",
        "https://github.com/vllm-project/vllm/pull/30330",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """The largest captured size against the rule's."""
        for row, _ in graphs(case):
            rule, largest = recomputed(row), max(row.capture_bs)
            if rule.sizes and largest < rule.sizes[-1]:
                yield self.found(
                    row.subject,
                    f"the largest captured batch is {largest}; {rule.sizes[-1]} requests may "
                    f"run at once (request pool rounded up to {rule.pool})",
                    at=case.at("max_running_requests", *LIST_FLAGS),
                    observed=largest,
                    expected=rule.sizes[-1],
                    pool=rule.pool,
                    mul_base=rule.base,
                )
