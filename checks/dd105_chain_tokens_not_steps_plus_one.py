"""DD105: a chain whose verify width is not its steps and the root."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.rule import Case, Check, Finding

CHAINS = ("EAGLE", "EAGLE3", "STANDALONE")
NUMBERS = ("num_draft_tokens", "num_steps", "eagle_topk")


class ChainTokensNotStepsPlusOne(Check):
    """With topk 1 the draft tokens given are not steps + 1."""

    code = "DD105"
    severity = "warning"
    why = (
        "With topk 1 the draft is a chain: each step adds one token, and the root makes one more. SGLang sets the "
        "number to steps + 1 and says so in one log line, so the verify width, the graphs and the memory are not those "
        "that the launch names. Where an engine does not correct it, drafted tokens are cut off or rows stay empty."
    )
    fix = ("--speculative-num-draft-tokens: steps + 1",)
    references = (
        "https://github.com/sgl-project/sglang/issues/8228",
        "https://github.com/sgl-project/sglang/issues/13352",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """The number given against the steps given, for algorithms that draft step by step."""
        algorithm = self.speculation(case)
        if algorithm not in CHAINS:
            raise self.skip(f"{algorithm} does not draft step by step")
        tokens, steps, topk = (case.given.integer(f"speculative_{name}").optional() for name in NUMBERS)
        if tokens is None or steps is None or topk != 1:
            raise self.skip("not a chain with both numbers given")
        if tokens != steps + 1:
            yield self.found(
                f"{algorithm}/target_verify",
                f"{tokens} draft tokens with {steps} steps and topk 1: a chain of {steps} steps verifies {steps + 1}",
                at=case.at("speculative_num_draft_tokens"),
                fix=(
                    f"--speculative-num-draft-tokens {steps + 1}",
                    f"--speculative-num-steps {tokens - 1}" if tokens > 1 else "a longer chain",
                ),
                num_draft_tokens=tokens,
                num_steps=steps,
                topk=1,
                width=steps + 1,
            )
