"""DD127: a context length beyond what the target was made for."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.contract.checkpoint import context
from ddtree_doctor.rule import Case, Check, Finding

OVERRIDE = "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"


class ContextBeyondTargetPositions(Check):
    """The context length given is longer than the target's positions."""

    code = "DD127"
    refuses = True
    why = (
        "SGLang refuses to start with a context length beyond what the checkpoint's config.json allows, unless "
        f"{OVERRIDE} is set; then positions beyond the trained ones are computed all the same, with wrong output or "
        "an index out of range."
    )
    fix = ("--context-length: at most the target's positions",)
    references = ("https://github.com/sgl-project/sglang/issues/3574",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """The flag against the target's config.json."""
        length = case.given.integer("context_length").optional()
        if length is None:
            raise self.skip("no --context-length given")
        positions = context(case.facts.target)
        if length <= positions:
            return
        allowed = case.variable(OVERRIDE).lower() in ("1", "true", "yes", "y")
        yield self.found(
            "launch",
            f"context length {length}; the target has {positions} positions"
            + (f", let through by {OVERRIDE}" if allowed else ""),
            at=case.at("context_length"),
            severity="warning" if allowed else "error",
            fix=(f"--context-length {positions}",),
            context_length=length,
            positions=positions,
            override=allowed,
        )
