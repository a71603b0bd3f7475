"""DD205: the smallest batches have no graph of their own."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import LIST_FLAGS, graphs, recomputed
from ddtree_doctor.rule import Case, Check, Finding


class SmallestBatchesNotCaptured(Check):
    """The smallest batch sizes that the configuration asks for have no graph of their own."""

    code = "DD205"
    tier = "shape"
    why = (
        "A batch without a graph of its size is padded to the next one, so a single request pays for all of its rows. "
        "Where padding is off it runs eagerly."
    )
    fix = ("--cuda-graph-bs with the small sizes", "in the engine: keep the small sizes of the configured list")

    def judge(self, case: Case) -> Iterator[Finding]:
        """The smallest captured size against the rule's. Sizes that no graph of this width can have are for DD108."""
        for row, _ in graphs(case):
            rule, smallest = recomputed(row), min(row.capture_bs)
            lost = [bs for bs in rule.sizes if bs < smallest]
            if lost:
                yield self.found(
                    row.subject,
                    f"the smallest captured batch is {smallest}; {lost} were configured and fit, so they run padded "
                    f"to {smallest} requests",
                    at=case.at(*LIST_FLAGS),
                    fix=(f"{case.spelled(*LIST_FLAGS)} with the sizes {lost} too", *self.fix[1:]),
                    observed=smallest,
                    expected=rule.sizes[0],
                    missing=lost,
                )
