"""What the words of a launch were probably meant to be, and what is wrong with them as they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from ddtree_doctor.launch.nodes import Cut
from ddtree_doctor.launch.scope import Remark
from ddtree_doctor.launch.table import Table
from ddtree_doctor.launch.words import Field

__all__ = ["explain", "repair"]

MAX_NAMED = 8

CUTS = {
    "space-after-backslash": "a blank after the backslash ends the command here",
    "comment-after-backslash": "the backslash before a comment continues nothing: the command ends here",
    "carriage-return": "the line ends of Windows (a carriage return after the backslash) end the command here",
    "comment-before-backslash": "the backslash is part of the comment: the command ends here",
    "comment-among-flags": "a comment among continued lines ends the command here",
    "blank-line": "a blank line after the backslash ends the command here",
    "missing-backslash": "no backslash at the end of this line: the command ends here",
}
"""Fault → what it does, the first half of a note."""

_ODD_SPACES = re.compile("[\u00a0\u2000-\u200b\u202f\u205f\u3000\ufeff]+")
_ODD_DASH = re.compile(r"-?[‐‑‒–—―−]{1,2}-?(?=[A-Za-z])")
_ODD_QUOTES = re.compile(r"[“”„‟‘’]")
_GLUED = re.compile(r"--[A-Za-z][A-Za-z0-9_-]*?(?=--[A-Za-z]|=|$)")
_CACHE_FOLDER = "models--"
_NUMBER = re.compile(r"[0-9.]+")

Step = Callable[[Field, Table], "tuple[list[Field], Remark] | None"]


def explain(cut: Cut, lost: Sequence[Field]) -> Remark:
    """The note on one fault that ended a command: which flags it keeps from SGLang."""
    names = [one.text.partition("=")[0] for one in lost if one.text.startswith("-")]
    shown = ", ".join(names[:MAX_NAMED]) + (f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else "")
    never = f"; never passed: {shown}" if names else "; the words below it are never passed"
    return Remark(cut.kind, CUTS[cut.kind] + never, cut.line)


def repair(fields: Sequence[Field], table: Table) -> tuple[list[Field], list[Remark]]:
    """The words that were probably meant, and a note for each one that was changed."""
    remarks: list[Remark] = []
    meant = list(fields)
    for step in _STEPS:
        meant = list(_apply(step, meant, table, remarks))
    return list(_equals(meant, table, remarks)), remarks


def _apply(step: Step, fields: Sequence[Field], table: Table, remarks: list[Remark]) -> Iterator[Field]:
    for one in fields:
        changed = step(one, table)
        if changed is None:
            yield one
        else:
            remarks.append(changed[1])
            yield from changed[0]


def _blank(one: Field, table: Table) -> tuple[list[Field], Remark] | None:
    """A word of blanks or a lone backslash, left by a backslash that continues nothing; blanks before a flag."""
    text = one.text.strip()
    if text == "\\" or (not text and one.text):
        return [], Remark("stray-backslash", "a backslash here is passed as a word of its own", one.line)
    if text.startswith("-") and text != one.text and one.text[0].isspace():
        why = f"a backslash puts a blank before {_name(text)}, which is then no option"
        return [one.with_text(text)], Remark("stray-backslash", why, one.line)
    return None


def _carriage_return(one: Field, table: Table) -> tuple[list[Field], Remark] | None:
    if not one.text.endswith("\r"):
        return None
    text = one.text.rstrip("\r")
    why = "a carriage return at the end of the line is passed with the last word; save the file with Unix line ends"
    return [one.with_text(text)] if text else [], Remark("carriage-return", why, one.line)


def _odd_spaces(one: Field, table: Table) -> tuple[list[Field], Remark] | None:
    if not one.bare or not _ODD_SPACES.search(one.text):
        return None
    words = [one.with_text(text) for text in _ODD_SPACES.split(one.text) if text]
    return words, Remark("odd-space", "a no-break or zero-width space does not separate words for the shell", one.line)


def _odd_dash(one: Field, table: Table) -> tuple[list[Field], Remark] | None:
    match = _ODD_DASH.match(one.text)
    if not match or not one.bare:
        return None
    meant = "--" + one.text[match.end() :]
    why = f"{one.text[: match.end()]} is no dash to SGLang: {_name(meant)} is not read as an option"
    return [one.with_text(meant)], Remark("odd-dash", why, one.line)


def _odd_quotes(one: Field, table: Table) -> tuple[list[Field], Remark] | None:
    if not one.bare or not _ODD_QUOTES.search(one.text):
        return None
    why = "a typographic quote quotes nothing for the shell and is passed with the word"
    return [one.with_text(_ODD_QUOTES.sub("", one.text))], Remark("odd-quote", why, one.line)


def _unglue(one: Field, table: Table) -> tuple[list[Field], Remark] | None:
    """`0.9--tp`: two words without a blank between them."""
    places = _glued_at(one, table)
    if not places:
        return None
    ends = [*places, len(one.text)]
    words = [one.with_text(one.text[: places[0]])]
    words += [one.with_text(one.text[first:last]) for first, last in pairwise(ends)]
    names = ", ".join(_name(word.text) for word in words[1:])
    return words, Remark("glued", f"no blank before {names}: the shell passes it as part of the word before", one.line)


def _glued_at(one: Field, table: Table) -> list[int]:
    places: list[int] = []
    if "--" not in one.text[1:] or _CACHE_FOLDER in one.text:
        return places
    unquoted = _unquoted(one)
    for match in _GLUED.finditer(one.text, 1):
        at = match.start()
        left = one.text[places[-1] if places else 0 : at]
        if at and unquoted[at] and (match.group() in table or _NUMBER.fullmatch(left)) and left.strip("-"):
            places.append(at)
    return places


def _unquoted(one: Field) -> list[bool]:
    return [not piece.quoted for piece in one.pieces for _ in piece.text]


def _equals(fields: Sequence[Field], table: Table, remarks: list[Remark]) -> Iterator[Field]:
    """`--tp = 8` and its like."""
    at = 0
    while at < len(fields):
        one = fields[at]
        after = fields[at + 1] if at + 1 < len(fields) else None
        if one.text in table and after and after.text.startswith("=") and after.bare:
            remarks.append(Remark("blank-around-equals", f"blanks around = after {one.text}", one.line))
            yield one
            if len(after.text) > 1:
                yield after.with_text(after.text[1:])
            at += 2
        elif after and one.bare and one.text.endswith("=") and one.text[:-1] in table and after.text[:1] != "-":
            remarks.append(Remark("blank-around-equals", f"a blank after {one.text}", one.line))
            yield one.with_text(one.text[:-1])
            at += 1
        else:
            yield one
            at += 1


def _name(text: str) -> str:
    return text.partition("=")[0]


_STEPS: tuple[Step, ...] = (_blank, _carriage_return, _odd_spaces, _odd_dash, _odd_quotes, _unglue)
