"""DD003: no SGLang where the doctor runs."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.rule import Case, Check, Finding


class EngineAbsent(Check):
    """No SGLang could be read, so nothing that rests on its source is judged."""

    code = "DD003"
    severity = "warning"
    why = (
        "Flags, algorithms, pins and the way graphs are sized are read from the installed SGLang's source. Without it "
        "the launch is judged by the algorithms' definitions and the model configurations alone."
    )
    fix = (
        "run the doctor in the environment that serves",
        'pip install "ddtree-doctor[sglang]"',
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """One finding where the engine has neither a version nor any option or algorithm, or is another than here."""
        engine = case.facts.engine
        if engine.traits.get("shipped"):
            yield self.found(
                "host",
                f"judged against the facts of SGLang {engine.version} that the doctor brings along, not against an "
                "SGLang of this machine",
                severity="info",
                release=engine.version,
            )
        if engine.version is None and not engine.options and not engine.algorithms:
            reason = engine.unknown or "SGLang is not installed in this environment"
            yield self.found("host", f"no SGLang to judge against: {reason}", reason=reason)
