"""DD202: sizes that the rule drops are captured, or sizes that it keeps are not."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import LIST_FLAGS, fed, graphs, recomputed
from ddtree_doctor.rule import Case, Check, Finding


class CaptureListDiffersFromRule(Check):
    """Batch sizes are captured that the capture rule drops, or sizes in the middle of the list are missing."""

    code = "DD202"
    tier = "shape"
    why = (
        "A captured size whose tokens do not divide by mul_base makes ranks scatter rows unevenly, which ends in a "
        "shape error or a hang. A size that is missing makes its batches run padded to the next one."
    )
    fix = ("--cuda-graph-bs with sizes that satisfy the rule", "in the engine: restore the filter of the capture list")
    references = ("https://github.com/vllm-project/vllm/pull/46324",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """The observed list against the rule. Sizes missing at either end are for DD204 and DD205."""
        for row, _ in graphs(case):
            seen, rule = set(row.capture_bs), recomputed(row)
            extra = sorted(seen - set(rule.sizes))
            missing = [bs for bs in rule.sizes if bs not in seen and min(seen) < bs < max(seen)]
            if extra or missing:
                parts = [f"captures {extra}" if extra else "", f"lacks {missing}" if missing else ""]
                yield self.found(
                    row.subject,
                    f"the capture list {' and '.join(filter(None, parts))}; batch size × {fed(row, 'width')} must be a "
                    f"multiple of {rule.base} and the batch size at most {rule.pool}",
                    at=case.at(*LIST_FLAGS),
                    fix=(f"{case.spelled(*LIST_FLAGS)} with sizes that satisfy the rule", *self.fix[1:]),
                    observed=list(row.capture_bs),
                    expected=list(rule.sizes),
                    extra=extra,
                    missing=missing,
                    mul_base=rule.base,
                    pool=rule.pool,
                )
