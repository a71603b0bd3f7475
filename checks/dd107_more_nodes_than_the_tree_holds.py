"""DD107: more nodes to verify than the draft can propose."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.rule import Case, Check, Finding

STEPPED = ("EAGLE", "EAGLE3", "STANDALONE")


class MoreNodesThanTheTreeHolds(Check):
    """Verify asks for more nodes than the draft's tree can hold."""

    code = "DD107"
    refuses = True
    why = (
        "A tree of S steps and topk K scores K candidates at the first step and K × K at each later one. The best "
        "N − 1 of them are verified beside the root; picking more than there are fails on the first draft (`selected "
        "index k out of range`)."
    )
    fix = ("--speculative-num-draft-tokens: at most 1 + K + (S − 1) × K²",)
    references = ("https://arxiv.org/abs/2406.16858",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """Draft tokens against 1 + K + (S − 1)·K². Chains (topk 1) are corrected by the engine: see DD105."""
        algorithm, settings = self.speculation(case), case.settings
        if algorithm not in STEPPED:
            raise self.skip(f"{algorithm} builds no tree by steps and topk")
        topk = settings.topk.need()
        if topk <= 1:
            raise self.skip("topk 1: a chain, not a tree")
        steps, tokens = settings.num_steps.need(), settings.num_draft_tokens.need()
        capacity = 1 + topk + (steps - 1) * topk * topk
        if tokens > capacity:
            yield self.found(
                f"{algorithm}/target_verify",
                f"{tokens} draft tokens; a tree of {steps} steps and topk {topk} holds {capacity} with the root",
                at=case.at("speculative_num_draft_tokens"),
                fix=(f"--speculative-num-draft-tokens {capacity} or fewer", "more --speculative-num-steps"),
                num_draft_tokens=tokens,
                num_steps=steps,
                topk=topk,
                capacity=capacity,
            )
