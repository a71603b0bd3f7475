"""DD118: an algorithm without the draft model that it needs, or with one that it does not take."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.rule import Case, Check, Finding

NEEDS_DRAFT = {"DFLASH": "certain", "DDTREE": "certain", "EAGLE3": "likely", "STANDALONE": "likely"}
"""EAGLE and DSPARK are not here: many targets carry their draft inside."""

DRAFT = "speculative_draft_model_path"


class DraftModelMissing(Check):
    """The algorithm drafts with a model of its own and the launch names none."""

    code = "DD118"
    refuses = True
    why = (
        "Without its draft model the engine stops at start-up, or loads the target a second time as its own draft and "
        "fails on weights that are not there."
    )
    fix = ("--speculative-draft-model-path: the draft checkpoint",)
    references = ("https://docs.sglang.io/advanced_features/speculative_decoding.html",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """The draft flag against what the algorithm needs. UNO takes a LoRA of the target instead."""
        algorithm = self.speculation(case)
        path = case.given.text(DRAFT).optional()
        if algorithm in NEEDS_DRAFT and path is None:
            yield self.found(
                f"{algorithm}/draft",
                f"{algorithm} without --speculative-draft-model-path",
                at=case.at("speculative_algorithm"),
                confidence=NEEDS_DRAFT[algorithm],
            )
        if algorithm == "UNO":
            yield from self._uno(case, path)

    def _uno(self, case: Case, path: str | None) -> Iterator[Finding]:
        if path is not None:
            yield self.found(
                "UNO/draft",
                "UNO drafts with the target itself and takes no --speculative-draft-model-path",
                at=case.at(DRAFT),
                fix=("remove --speculative-draft-model-path",),
            )
        if case.given.text("uno_lora_path").optional() is None:
            yield self.found(
                "UNO/draft",
                "UNO without --uno-lora-path",
                at=case.at("speculative_algorithm"),
                fix=("--uno-lora-path: the draft's LoRA checkpoint",),
            )
