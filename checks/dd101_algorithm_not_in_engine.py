"""DD101: an algorithm that this engine does not have."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.rule import Case, Check, Finding

ALIASES = ("NEXTN",)
"""Names that the command line takes beside the enum's members (NEXTN means EAGLE)."""

FORKS = {
    "DDTREE": ("--plugin ddtree: judge with the doctor's own DDTREE", "serve with a fork that has DDTREE"),
}


class AlgorithmNotInEngine(Check):
    """The launch asks for a speculative algorithm that this engine does not have."""

    code = "DD101"
    required = True
    refuses = True
    why = (
        "SGLang looks the name up in its enum and among the algorithms that plugins registered, and stops at start-up "
        "with an unknown algorithm."
    )
    fix = ("--speculative-algorithm: one of those the engine has",)
    references = (
        "https://github.com/sgl-project/sglang/issues/22887",
        "https://github.com/sgl-project/sglang/pull/29907",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """The name given, upper case as the engine reads it, against the enum, its aliases and selected plugins."""
        engine = case.facts.engine
        given = case.given.text("speculative_algorithm").optional()
        if given is None or given.upper() == "NONE":
            raise self.skip("no speculative decoding")
        if not engine.algorithms:
            raise engine.not_known("algorithms")
        name, has = given.upper(), sorted({*engine.algorithms, *engine.plugins} - {"NONE"})
        if name not in has and name not in ALIASES:
            yield self.found(
                name,
                f"SGLang {engine.version or ''} has no algorithm {name}; it has {', '.join(has)}",
                at=case.at("speculative_algorithm"),
                fix=(*FORKS.get(name, ()), *self.fix),
                algorithm=name,
                engine=engine.version,
                has=has,
            )
