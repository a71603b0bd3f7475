"""Brace expansion: `{a,b}` and `{1..8}`, before anything else is expanded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

from ddtree_doctor.launch.words import Part, Piece, Word

__all__ = ["expand_braces"]

MAX_WORDS = 4096
MAX_NESTING = 20

_SPLIT = re.compile(r"([{},])")
_NUMBERS = re.compile(r"(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.(-?\d{1,9}))?")
_LETTERS = re.compile(r"([A-Za-z])\.\.([A-Za-z])(?:\.\.(-?\d{1,9}))?")

Parts: TypeAlias = "tuple[Part, ...]"


class _TooMany(Exception):
    """The word makes more words than anyone means."""


def expand_braces(word: Word) -> list[Word]:
    """The words that a word with unquoted braces stands for, the word itself where it has none."""
    if not any(type(part) is Piece and not part.quoted and "{" in part.text for part in word.parts):
        return [word]
    try:
        parsed = _Braces(word)
        return [Word(parts, word.line) for parts in parsed.expand(0, len(parsed.atoms), 0)]
    except _TooMany:
        why = f"it expands to more than {MAX_WORDS} words"
        return [Word((Piece("{…}", word.line, why=why),), word.line)]


class _Braces:
    def __init__(self, word: Word) -> None:
        self.atoms = list(_atoms(word.parts))
        self.signs = [_sign(atom) for atom in self.atoms]
        self.closes = _matching(self.signs)

    def expand(self, begin: int, end: int, depth: int) -> list[Parts]:
        """Every word that atoms[begin:end] stand for."""
        if depth > MAX_NESTING:
            raise _TooMany
        words: list[Parts] = [()]
        at = begin
        while at < end:
            close = self.closes.get(at)
            choices = self._choices(at, close, depth) if close is not None and close < end else None
            if choices is not None and close is not None:
                words = _product(words, choices)
                at = close + 1
            else:
                run = self._literals(at, end)
                words = [(*word, *self.atoms[at:run]) for word in words]
                at = run
        return words

    def _literals(self, at: int, end: int) -> int:
        """The end of the atoms from `at` on that begin no brace expression."""
        at += 1
        while at < end and at not in self.closes:
            at += 1
        return at

    def _choices(self, begin: int, end: int, depth: int) -> list[Parts] | None:
        """What the braces at `begin` and `end` choose from, None where they are plain text."""
        commas = [begin, *self._commas(begin + 1, end), end]
        if len(commas) == 2:
            return self._sequence(begin + 1, end)
        choices: list[Parts] = []
        for first, last in pairwise(commas):
            choices += self.expand(first + 1, last, depth + 1)
        return choices

    def _commas(self, at: int, end: int) -> Iterator[int]:
        """Commas that belong to no inner brace."""
        while at < end:
            if self.signs[at] == ",":
                yield at
            at = self.closes.get(at, at) + 1

    def _sequence(self, begin: int, end: int) -> list[Parts] | None:
        inside = self.atoms[begin:end]
        only = inside[0] if len(inside) == 1 else None
        if not isinstance(only, Piece) or only.quoted:
            return None
        return [(only._replace(text=text),) for text in _series(only.text)] or None


def _atoms(parts: Sequence[Part]) -> Iterator[Part]:
    """The parts, unquoted braces and commas each on their own."""
    for part in parts:
        if not isinstance(part, Piece) or part.quoted or part.why:
            yield part
            continue
        for text in _SPLIT.split(part.text):
            if text:
                yield part._replace(text=text)


def _sign(atom: Part) -> str:
    """The brace or comma that an atom is, "" for all others."""
    return atom.text if isinstance(atom, Piece) and not atom.quoted and atom.text in ("{", "}", ",") else ""


def _matching(signs: Sequence[str]) -> dict[int, int]:
    """Opening brace → its closing one; unmatched ones are absent."""
    closes: dict[int, int] = {}
    opened: list[int] = []
    for index, sign in enumerate(signs):
        if sign == "{":
            opened.append(index)
        elif sign == "}" and opened:
            closes[opened.pop()] = index
    return closes


def _product(words: list[Parts], choices: list[Parts]) -> list[Parts]:
    if len(words) * len(choices) > MAX_WORDS:
        raise _TooMany
    return [(*word, *choice) for word in words for choice in choices]


def _series(text: str) -> list[str]:
    if match := _NUMBERS.fullmatch(text):
        first, last = match.group(1), match.group(2)
        width = max(len(first), len(last)) if _padded(first) or _padded(last) else 0
        return [f"{number:0{width}d}" for number in _range(int(first), int(last), match.group(3))]
    if match := _LETTERS.fullmatch(text):
        return [chr(code) for code in _range(ord(match.group(1)), ord(match.group(2)), match.group(3))]
    return []


def _padded(number: str) -> bool:
    return len(number.lstrip("-")) > 1 and number.lstrip("-").startswith("0")


def _range(first: int, last: int, step: str | None) -> range:
    by = abs(int(step or 1)) or 1
    if abs(last - first) // by >= MAX_WORDS:
        raise _TooMany
    return range(first, last + 1, by) if first <= last else range(first, last - 1, -by)
