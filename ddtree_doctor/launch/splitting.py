"""Splits a command given as one string by the rules of compose files and systemd: quotes, but no shell."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ddtree_doctor.errors import UsageError
from ddtree_doctor.launch.ansi import unescape
from ddtree_doctor.launch.source import Source
from ddtree_doctor.launch.words import Field, Piece

__all__ = ["split"]


def _tokens(single: str, escaped: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<blank>[ \t\r\n]+)|'(?P<single>{single})'|\"(?P<double>(?:[^\"\\]|\\.)*)\"|\\(?P<escaped>{escaped})"
        r"|(?P<plain>[^ \t\r\n'\"\\]+)|(?P<open>['\"\\])",
        re.DOTALL,
    )


_COMPOSE = _tokens(r"[^']*", ".")
_SYSTEMD = _tokens(r"(?:[^'\\]|\\.)*", r"x[0-9A-Fa-f]{2}|[0-7]{3}|.")


def split(pieces: Sequence[Piece], name: str, *, c_escapes: bool = False) -> list[Field]:
    """The words of a string. `c_escapes` reads `\\n` and its like as systemd does.

    Raises UsageError for a quote that is never closed.
    """
    source = Source.of_pieces(pieces, name)
    fields: list[Field] = []
    current: list[Piece] = []
    for match in (_SYSTEMD if c_escapes else _COMPOSE).finditer(source.text):
        kind = match.lastgroup or ""
        if kind == "open" and match.group() != "\\":
            raise UsageError(f"{source.place(match.start())}: unterminated quote {match.group()}; close it")
        if kind != "blank":
            current += _pieces(source, match, c_escapes=c_escapes)
        elif current:
            fields.append(Field.of(tuple(current)))
            current = []
    if current:
        fields.append(Field.of(tuple(current)))
    return fields


def _pieces(source: Source, match: re.Match[str], *, c_escapes: bool) -> list[Piece]:
    """What one token puts into the word, cut where the source's segments meet."""
    kind = match.lastgroup or ""
    text, begin = match.group(kind), match.start(kind)
    if kind == "escaped" and c_escapes:
        text = unescape("\\" + text)
    elif kind in ("single", "double"):
        text = unescape(text) if c_escapes else re.sub(r"\\([\"\\])", r"\1", text) if kind == "double" else text
    quoted = kind != "plain"
    whole = match.group(kind)
    if text != whole:
        return [_piece(source, text, begin, quoted)]
    return [
        _piece(source, source.text[first:last], first, quoted) for first, last in source.spans(begin, begin + len(text))
    ]


def _piece(source: Source, text: str, at: int, quoted: bool) -> Piece:
    mark = source.at(at)
    return Piece(text, mark.line, quoted, mark.why, "", mark.assumed)
