"""DD114: a draft head made for hidden states of another size."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.contract.checkpoint import whole
from ddtree_doctor.rule import Case, Check, Finding

FED = ("EAGLE", "EAGLE3", "DFLASH", "DDTREE", "DSPARK")
"""Algorithms whose draft is fed the target's hidden states."""


class DraftHiddenSizeDiffers(Check):
    """The draft expects hidden states of another size than the target's."""

    code = "DD114"
    confidence = "likely"
    why = (
        "The draft's first projection multiplies the target's hidden states. Made for another size it fails on the "
        "first request (`mat1 and mat2 shapes cannot be multiplied`): the draft checkpoint belongs to another target."
    )
    fix = ("--speculative-draft-model-path: the draft that was trained for this target",)
    references = (
        "https://github.com/sgl-project/sglang/pull/13590",
        "https://github.com/sgl-project/sglang/issues/4351",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """`target_hidden_size`, else `hidden_size`, of the draft against the target's `hidden_size`."""
        algorithm, draft = self.speculation(case), case.facts.draft
        if algorithm not in FED:
            raise self.skip(f"{algorithm} feeds its draft no hidden states")
        if draft is None:
            raise self.skip("no draft model given")
        expects, has = whole(draft, "target_hidden_size", "hidden_size"), whole(case.facts.target, "hidden_size")
        if expects != has:
            yield self.found(
                f"{algorithm}/draft",
                f"the draft takes hidden states of {expects}; the target's are {has}",
                at=case.at("speculative_draft_model_path"),
                draft=expects,
                target=has,
            )
