"""DD216: warm-up runs a forward of another width than the runner's."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import graphs
from ddtree_doctor.rule import Case, Check, Finding


class DummyWidthDiffers(Check):
    """The dummy verify input of warm-up has another width than the runner's."""

    code = "DD216"
    severity = "warning"
    tier = "shape"
    why = (
        "Warm-up and kernel autotuning run a dummy forward whose rows are the runner's width and whose attention "
        "metadata is the dummy input's. Where the two differ, kernels read rows that are not there, or are tuned for a "
        "shape that never comes."
    )
    fix = ("in the engine: build the dummy verify input from the runner's width, not from the number of draft tokens",)
    references = ("https://github.com/vllm-project/vllm/pull/56448",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """The dummy input's width against the runner's."""
        for row, _ in graphs(case):
            if row.dummy_width is not None and row.dummy_width != row.tokens_per_bs:
                yield self.found(
                    row.subject,
                    f"the dummy verify input has {row.dummy_width} tokens per request; the runner has "
                    f"{row.tokens_per_bs}",
                    observed=row.dummy_width,
                    expected=row.tokens_per_bs,
                )
