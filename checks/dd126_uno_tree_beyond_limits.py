"""DD126: a UNO tree that its kernels cannot hold."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.rule import Case, Check, Finding

WIDEST, MOST_SLOTS = 128, 2048


class UnoTreeBeyondLimits(Check):
    """A UNO tree is wider, narrower or fuller than its kernels can hold."""

    code = "DD126"
    refuses = True
    why = (
        "UNO drafts F = steps + 1 positions at once and verifies a tree of Q nodes with K branches each. Its kernels "
        "and parent lists have fixed limits, and SGLang refuses to start beyond them."
    )
    fix = ("--speculative-num-draft-tokens within the limits above",)
    references = ("https://docs.sglang.io/advanced_features/speculative_decoding.html",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """Q ≥ F, Q ≤ 128, Q·K ≤ 2048, Q ≤ nodes of a K-ary tree of that depth, Q − 1 ≤ K·(F − 2) + 1."""
        settings = case.settings
        if self.speculation(case) != "UNO":
            raise self.skip("not UNO")
        width, topk = settings.num_draft_tokens.need(), settings.topk.optional() or 1
        if topk <= 1:
            raise self.skip("topk 1: UNO verifies a chain")
        steps = settings.num_steps.need()
        for holds, limit in _limits(width, topk, steps):
            if not holds:
                yield self.found(
                    "UNO/target_verify",
                    f"Q {width}, K {topk}, F {steps + 1}: {limit} does not hold",
                    at=case.at("speculative_num_draft_tokens"),
                    width=width,
                    topk=topk,
                    draft_width=steps + 1,
                    limit=limit,
                )


def _limits(width: int, topk: int, steps: int) -> Iterator[tuple[bool, str]]:
    yield width >= steps + 1, "Q ≥ F"
    yield width <= WIDEST, f"Q ≤ {WIDEST}"
    yield width * topk <= MOST_SLOTS, f"Q × K ≤ {MOST_SLOTS}"
    yield width <= _nodes(topk, steps, enough=width), "Q ≤ nodes of the whole tree"
    yield width - 1 <= topk * max(steps - 1, 0) + 1, "Q − 1 ≤ K × (F − 2) + 1"


def _nodes(topk: int, steps: int, *, enough: int) -> int:
    """Nodes of a `topk`-ary tree of depth `steps` with its root; stops counting at `enough`."""
    nodes = level = 1
    for _ in range(steps):
        level *= topk
        nodes += level
        if nodes >= enough:
            break
    return nodes
