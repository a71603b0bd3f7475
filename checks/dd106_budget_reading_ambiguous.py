"""DD106: a tree budget of which it is not clear whether it counts the root."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.contract.checkpoint import block_size
from ddtree_doctor.rule import Case, Check, Finding

WITHOUT_ROOT = "speculative_ddtree_budget"
WITH_ROOT = "speculative_dflash_tree_budget"
"""The field of the one integration whose budget counts the root."""


class BudgetReadingAmbiguous(Check):
    """It is not clear whether the tree budget counts the root."""

    code = "DD106"
    severity = "warning"
    confidence = "likely"
    why = (
        "The reference and most forks count nodes without the root, so verify forwards budget + 1 tokens; one "
        "integration counts the root, so verify forwards budget. Read the wrong way every width is off by one, which "
        "no health check shows."
    )
    fix = ("give one budget, in the reading of the engine that serves",)
    references = (
        "https://arxiv.org/abs/2604.12989",
        "https://github.com/liranringel/ddtree",
        "https://github.com/sgl-project/sglang/pull/29587",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """Two budgets of different readings; or draft tokens that fit the budget and not the draft checkpoint."""
        without, counting = (case.given.integer(name).optional() for name in (WITHOUT_ROOT, WITH_ROOT))
        if without is None and counting is None:
            raise self.skip("no tree budget given")
        if without is not None and counting is not None:
            yield self.found(
                "launch",
                f"two budgets: {without} without the root (width {without + 1}) and {counting} with it "
                f"(width {counting})",
                at=case.at(WITHOUT_ROOT),
                without_root=without,
                with_root=counting,
            )
        drafted = case.given.integer("speculative_num_draft_tokens").optional()
        if without is None or counting is not None or drafted is None or drafted - without not in (0, 1):
            return
        if case.facts.draft is None:
            raise self.skip("no draft checkpoint to tell whether draft tokens are meant as its block")
        block = block_size(case.facts.draft)
        if block is not None and block != drafted:
            yield self._as_width(case, without, drafted, block)

    def _as_width(self, case: Case, budget: int, drafted: int, block: int) -> Finding:
        reading = "counts the root" if drafted == budget else "is the verify width"
        return self.found(
            "DDTREE/target_verify",
            f"budget {budget} beside {drafted} draft tokens, with a draft of block {block}: that reads as if the "
            f"number {reading}. Read here: the draft forwards a block of {drafted}, verify a tree of {budget + 1}",
            at=case.at("speculative_num_draft_tokens"),
            fix=(f"--speculative-num-draft-tokens {block}",),
            budget=budget,
            num_draft_tokens=drafted,
            block_size=block,
            width=budget + 1,
        )
