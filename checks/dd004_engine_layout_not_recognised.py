"""DD004: an SGLang that sizes its graphs in no way known here."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.rule import Case, Check, Finding


class EngineLayoutNotRecognised(Check):
    """This SGLang sizes its graphs in a way that the doctor does not know."""

    code = "DD004"
    severity = "warning"
    why = (
        "Where the graph runner takes its tokens per request from differs between releases and forks. What the runner "
        "does in a layout not known here cannot be derived from its source, so widths and capture lists stay UNKNOWN."
    )
    fix = (
        "use SGLang 0.5.10 or later",
        "doctor check --tier shape: observes the widths instead of deriving them",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """One finding where a version is known and no layout is."""
        engine = case.facts.engine
        if engine.version is None:
            raise self.skip("no SGLang in this environment")
        if not engine.layout:
            yield self.found(
                "engine",
                f"SGLang {engine.version} has none of the known ways to size graphs: it is older than 0.5.10, newer "
                "than this doctor, or a fork that moved them",
                version=engine.version,
                seams={seam.name: seam.state for seam in engine.seams},
            )
