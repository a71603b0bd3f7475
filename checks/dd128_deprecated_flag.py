"""DD128: a flag that the engine still takes and means to drop."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.rule import Case, Check, Finding


class DeprecatedFlag(Check):
    """A flag is deprecated in this engine."""

    code = "DD128"
    severity = "info"
    why = "A later release refuses the flag, and the launch with it."
    fix = ("use the flag that replaces it",)
    references = ("https://docs.sglang.io/advanced_features/server_arguments.html",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """Each flag whose option the engine's source marks."""
        engine = case.facts.engine
        if not engine.options:
            raise engine.not_known("options")
        for flag in case.facts.launch.flags:
            for option in engine.options:
                if option.name == flag.name and option.deprecated and flag.option in option.options:
                    yield self.found(
                        flag.option,
                        f"{flag.option} is deprecated: {option.deprecated}",
                        at=flag.location,
                        flag=flag.option,
                        engine=engine.version,
                    )
