"""DD222: a tree is verified without its mask."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import attends_by_triton, graphs
from ddtree_doctor.rule import Case, Check, Finding

_TREES = ("DDTREE", "NGRAM")
_TREES_WITH_BRANCHES = ("EAGLE", "EAGLE3", "NEXTN", "STANDALONE", "UNO")


class TreeVerifiedWithoutMask(Check):
    """The verify graph of a tree was captured without a mask, so its nodes attend causally."""

    code = "DD222"
    tier = "shape"
    why = (
        "Nodes of a tree stand in one row, siblings beside each other. Without the tree's mask each attends to all "
        "that stand before it, also to branches that it is no part of: nothing crashes, and accepted tokens are wrong."
    )
    fix = ("--attention-backend triton, or another that takes a custom mask", "in the engine: pass the mask at capture")
    references = ("https://github.com/sgl-project/sglang/pull/36196",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """The mask that attention was given when each verify graph was captured; a warning if triton stood in."""
        branches = case.settings.topk.value or 1
        for row, demand in graphs(case):
            tree = demand.algorithm in _TREES or (demand.algorithm in _TREES_WITH_BRANCHES and branches > 1)
            bare = [graph.bs for graph in row.captured if graph.mask_numel is None]
            if row.role == "target_verify" and tree and bare:
                yield self.found(
                    row.subject,
                    f"{len(bare)} of {len(row.captured)} graphs were captured without a mask over the "
                    f"{row.tokens_per_bs} nodes of a request",
                    severity=None if attends_by_triton(case) else "warning",
                    batch_sizes=bare,
                    width=row.tokens_per_bs,
                )
