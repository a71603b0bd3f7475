"""DD306: a pass that fits the captured graphs ran eager."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.replayed import Replayed, scenes
from ddtree_doctor.rule import Case, Finding


class PassRanWithoutItsGraph(Replayed):
    """A pass that fits the captured graphs ran eager, without a word."""

    code = "DD306"
    severity = "warning"
    why = "The speed that graphs give is lost for such batches, and no log line or metric says so."
    fix = (
        "in the engine: set num_tokens_per_req of the verify input to the width that was captured",
        "doctor check --tier shape, which shows the width of each graph",
    )
    references = ("https://github.com/sgl-project/sglang/pull/31255",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """One finding for each behaviour with passes that ran eager."""
        for seen in self.behaviours(case):
            eager = [one for one in seen.passes if not one.hit and not one.error]
            if eager:
                yield self.found(
                    seen.subject,
                    f"{len(eager)} of {len(seen.passes)} passes ran eager: {scenes(eager)}",
                    eager=len(eager),
                    passes=len(seen.passes),
                    scenarios=[one.scenario for one in eager],
                )
