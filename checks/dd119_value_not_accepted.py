"""DD119: a value that the engine's command line refuses."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.launch.typing import malformed
from ddtree_doctor.rule import Case, Check, Finding


class ValueNotAccepted(Check):
    """A flag has a value that the engine's command line refuses."""

    code = "DD119"
    refuses = True
    why = "SGLang's command line checks types and choices before anything else and exits with its usage text."
    fix = ("give a value that the flag takes",)
    references = ("https://docs.sglang.io/advanced_features/server_arguments.html",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """The words of each flag against the type, the choices and the number of words of its option."""
        engine = case.facts.engine
        if not engine.options:
            raise engine.not_known("options")
        for flag in case.facts.launch.flags:
            option = engine.option(flag.name) if flag.name else None
            if option is not None and (why := malformed(flag, option)):
                yield self.found(
                    flag.option,
                    why,
                    at=flag.location,
                    flag=flag.option,
                    values=list(flag.values),
                    type=option.type,
                    choices=list(option.choices or ()),
                )
