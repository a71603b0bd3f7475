"""DD115: draft and target count their tokens differently."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.contract.checkpoint import whole
from ddtree_doctor.rule import Case, Check, Finding

SEVERITIES = {"STANDALONE": "error"}
"""STANDALONE compares the sizes at start-up and refuses; others share the target's embedding and head."""


class DraftVocabularyDiffers(Check):
    """Draft and target have vocabularies of different sizes."""

    code = "DD115"
    severity = "warning"
    refuses = True
    why = (
        "A drafted id is looked up in the target's vocabulary. Where the two differ ids mean other tokens or lie "
        "outside the table: no draft is accepted, or an index runs out of range. A draft vocabulary that is smaller by "
        "design is named `draft_vocab_size` and comes with a map into the target's."
    )
    fix = ("--speculative-draft-model-path: a draft of the same tokenizer",)
    references = (
        "https://github.com/sgl-project/sglang/issues/24051",
        "https://github.com/sgl-project/sglang/pull/23838",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """`vocab_size` of both, and `draft_vocab_size` against the target's."""
        algorithm, draft = self.speculation(case), case.facts.draft
        if draft is None:
            raise self.skip("no draft model given")
        target, own = whole(case.facts.target, "vocab_size"), whole(draft, "vocab_size")
        if own != target:
            yield self._finding(case, algorithm, "vocabulary", own, target, SEVERITIES.get(algorithm, "warning"))
        reduced = draft.get("draft_vocab_size")
        if isinstance(reduced, int) and reduced > target:
            yield self._finding(case, algorithm, "draft vocabulary", reduced, target, "error")

    def _finding(self, case: Case, algorithm: str, what: str, own: int, target: int, severity: str) -> Finding:
        return self.found(
            f"{algorithm}/draft",
            f"the draft's {what} has {own} tokens; the target's has {target}",
            at=case.at("speculative_draft_model_path"),
            severity=severity,
            confidence="certain" if severity == "error" else "likely",
            draft=own,
            target=target,
        )
