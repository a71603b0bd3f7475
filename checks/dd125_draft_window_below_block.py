"""DD125: a draft window that does not hold one block."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.rule import Case, Check, Finding

NAMES = ("speculative_draft_window_size", "speculative_dflash_draft_window_size")


class DraftWindowBelowBlock(Check):
    """The draft's attention window does not hold one block."""

    code = "DD125"
    refuses = True
    why = "The draft forwards a whole block in one pass; SGLang refuses to start with a window that cannot hold it."
    fix = ("--speculative-draft-window-size: at least the block size",)
    references = ("https://docs.sglang.io/advanced_features/speculative_decoding.html",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """The window against the block, for DFLASH and DDTREE."""
        algorithm = self.speculation(case)
        window = case.given.integer(*NAMES).optional()
        if algorithm not in ("DFLASH", "DDTREE") or window is None:
            raise self.skip("no draft window for a block draft")
        block = case.settings.block_size.need()
        if window < block:
            yield self.found(
                f"{algorithm}/draft",
                f"draft window {window}; one block is {block} tokens",
                at=case.at(*NAMES),
                fix=(f"--speculative-draft-window-size {block} or more",),
                window=window,
                block_size=block,
            )
