"""The engine's options by spelling, with argparse's rule for abbreviations."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import islice, takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ddtree_doctor.facts.model import Option

__all__ = ["Table", "nearest"]

NEAREST = 3

_NEGATIVE = re.compile(r"-\d+|-\d*\.\d+")


class Table:
    """Looks options up as argparse does."""

    def __init__(self, options: Sequence[Option]) -> None:
        self.options = options
        self._by_text = {text: option for option in options for text in option.options}
        self._texts = sorted(self._by_text)
        self._found: dict[str, Option | None] = {}

    def __contains__(self, text: str) -> bool:
        return text in self._by_text

    def option(self, text: str) -> Option | None:
        """The option that this spelling sets: itself, or the only one it abbreviates. None where there is no such."""
        exact = self._by_text.get(text)
        if exact or not text.startswith("--"):
            return exact
        if text not in self._found:
            self._found[text] = self._abbreviated(text)
        return self._found[text]

    def _abbreviated(self, text: str) -> Option | None:
        meant = {option.name: option for full in self.completions(text) for option in (self._by_text[full],)}
        return next(iter(meant.values())) if len(meant) == 1 else None

    def completions(self, text: str) -> list[str]:
        """The spellings that begin with `text`."""
        after = islice(self._texts, bisect_left(self._texts, text), None)
        return list(takewhile(lambda full: full.startswith(text), after))

    def is_option(self, word: str) -> bool:
        """Whether argparse takes a word for an option rather than a value."""
        if not word.startswith("-") or word == "-":
            return False
        name = word.partition("=")[0]
        if word in self._by_text or name in self._by_text or self.option(name):
            return True
        return not _NEGATIVE.fullmatch(word) and " " not in word


def nearest(option: str, options: Sequence[Option]) -> tuple[str, ...]:
    """Up to three spellings that an unknown option was perhaps meant to be, the most likely first."""
    known = sorted({text for one in options for text in one.options if text.startswith("--")})
    meant = "--" + option.partition("=")[0].lstrip("-").replace("_", "-").lower()
    same = [text for text in known if text == meant]
    close = difflib.get_close_matches(meant, known, n=NEAREST)
    longer = [text for text in known if text.startswith(meant)] if len(meant) > 3 else []
    return tuple(dict.fromkeys([*same, *close[:1], *longer, *close[1:]]))[:NEAREST]
