"""DD119: a value that the engine's command line refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ddtree_doctor.facts.model import Option
from ddtree_doctor.launch.model import Flag
from ddtree_doctor.rule import Case, Check, Finding

LONGEST = 64
"""Characters of a value that are looked at and shown."""


class ValueNotAccepted(Check):
    """A flag has a value that the engine's command line refuses."""

    code = "DD119"
    why = "SGLang's command line checks types and choices before anything else and exits with its usage text."
    fix = ("give a value that the flag takes",)
    references = ("https://docs.sglang.io/advanced_features/server_arguments.html",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """Each word of each flag whose option has a numeric type or choices."""
        engine = case.facts.engine
        if not engine.options:
            raise engine.not_known("options")
        for flag in case.facts.launch.flags:
            option = engine.option(flag.name) if flag.name else None
            if option is None or flag.unknown:
                continue
            for word in flag.values:
                if wants := _refused(option, word):
                    yield self._finding(flag, word, wants)

    def _finding(self, flag: Flag, word: str, wants: str) -> Finding:
        return self.found(
            flag.option,
            f"{flag.option} {word[:LONGEST]!r}; it takes {wants}",
            at=flag.location,
            flag=flag.option,
            value=word[:LONGEST],
            takes=wants,
        )


def _refused(option: Option, word: str) -> str:
    """What the option takes instead of `word`, "" where it takes `word`."""
    if option.type in PARSERS and not _parses(PARSERS[option.type], word):
        return f"a value of type {option.type}"
    if option.choices and word not in option.choices:
        return f"one of {', '.join(option.choices)}"
    return ""


PARSERS: dict[str, Callable[[str], object]] = {"int": int, "float": float}


def _parses(parser: Callable[[str], object], word: str) -> bool:
    try:
        parser(word[:LONGEST])
    except ValueError:
        return False
    return True
