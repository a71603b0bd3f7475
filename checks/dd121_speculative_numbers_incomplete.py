"""DD121: some but not all of steps, topk and draft tokens."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.rule import Case, Check, Finding

NUMBERS = ("speculative_num_steps", "speculative_eagle_topk", "speculative_num_draft_tokens")


class SpeculativeNumbersIncomplete(Check):
    """Some of steps, topk and draft tokens are given and others are missing."""

    code = "DD121"
    refuses = True
    why = (
        "SGLang chooses the three numbers by the model only where the launch gives none of them. Topk or draft tokens "
        "without steps end in an assertion at start-up; steps without topk in a comparison with nothing; a tree "
        "without a number of draft tokens has no width."
    )
    fix = ("give all three of --speculative-num-steps, --speculative-eagle-topk, --speculative-num-draft-tokens",)
    references = ("https://docs.sglang.io/advanced_features/speculative_decoding.html",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """Which of the three are given, for EAGLE, EAGLE3 and STANDALONE."""
        algorithm = self.speculation(case)
        if algorithm not in ("EAGLE", "EAGLE3", "STANDALONE"):
            raise self.skip(f"{algorithm} does not take the three numbers together")
        if case.given.switch("speculative_adaptive").need():
            raise self.skip("adaptive speculation chooses its steps")
        steps, topk, tokens = (case.given.integer(name).optional() for name in NUMBERS)
        missing = [name for name, value in zip(NUMBERS, (steps, topk, tokens), strict=True) if value is None]
        if topk == 1 and steps is not None:
            raise self.skip("a chain's draft tokens follow from its steps")
        if missing and len(missing) < len(NUMBERS):
            flags = [f"--{name.replace('_', '-')}" for name in missing]
            given = {
                name: value for name, value in zip(NUMBERS, (steps, topk, tokens), strict=True) if value is not None
            }
            yield self.found(
                f"{algorithm}/draft",
                f"{', '.join(f'{name} {value}' for name, value in given.items())} given without {' and '.join(flags)}",
                at=case.at(*given),
                confidence="certain" if steps is None or topk is None else "likely",
                fix=(*flags, "or leave all three out"),
                given=given,
                missing=missing,
            )
