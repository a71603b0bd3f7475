"""DD113: a draft model that has fewer positions than the requests may have."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.contract.checkpoint import context
from ddtree_doctor.rule import Case, Check, Finding

OVERRIDE = "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"


class DraftPositionsBelowContext(Check):
    """The draft model has fewer positions than the context length."""

    code = "DD113"
    refuses = True
    why = (
        "The draft sees the same positions as the target. SGLang refuses to start with a draft that has fewer; with "
        f"{OVERRIDE} set it goes on, and beyond the draft's last position it indexes past its table or drafts tokens "
        "that are never accepted."
    )
    fix = ("--context-length: the draft's positions", "a draft checkpoint made for this context")
    references = (
        "https://github.com/sgl-project/sglang/issues/3574",
        "https://github.com/vllm-project/vllm/issues/48894",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """Positions in the draft's config.json, scaled as its rotary embedding says, against the context length."""
        algorithm, draft = self.speculation(case), case.facts.draft
        if draft is None:
            raise self.skip("no draft model given")
        length, positions = case.settings.context_length.need(), context(draft)
        if positions >= length:
            return
        allowed = case.variable(OVERRIDE).lower() in ("1", "true", "yes", "y")
        yield self.found(
            f"{algorithm}/draft",
            f"the draft has {positions} positions; the context length is {length}"
            + (f", let through by {OVERRIDE}" if allowed else ""),
            at=case.at("context_length", "speculative_draft_model_path"),
            severity="warning" if allowed else "error",
            fix=(f"--context-length {positions}", *self.fix[1:]),
            positions=positions,
            context_length=length,
            override=allowed,
        )
