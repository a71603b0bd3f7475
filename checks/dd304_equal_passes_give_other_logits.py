"""DD304: two passes that mean the same give different logits."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.replayed import Replayed, numbers
from ddtree_doctor.rule import Case, Finding


class EqualPassesGiveOtherLogits(Replayed):
    """Two passes that mean the same give different logits."""

    code = "DD304"
    why = (
        "A causal mask is a chain, siblings have no order, and what lies in padded rows is nobody's. Where the logits "
        "depend on such a thing all the same, rows are mixed up or read past their own."
    )
    fix = ("in the engine: each row reads its own ancestors, in whatever order the rows stand",)
    references = ("https://arxiv.org/abs/2604.12989",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """Each response that had to keep the logits and moved them beyond the noise."""
        for seen in self.behaviours(case):
            for response in seen.responses:
                if response.must == "keep" and not response.gap.agrees(seen.dtype):
                    yield self.found(
                        seen.subject,
                        f"{response.name} moved the logits by {response.gap.size:.3g} where "
                        f"{response.gap.allowed(seen.dtype):.3g} is allowed, first in row {response.gap.row}",
                        changed=response.name,
                        **numbers(response.gap, seen.dtype),
                    )
