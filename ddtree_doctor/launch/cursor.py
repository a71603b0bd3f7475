"""A position in a shell text, and how to get past what is never expanded here."""

from __future__ import annotations

import re
from typing import NoReturn, TypeAlias

from ddtree_doctor.errors import UsageError
from ddtree_doctor.launch.source import Source

__all__ = ["Cursor", "Delimiter", "skip_documents"]

Delimiter: TypeAlias = "tuple[str, bool]"
"""The line that ends a here-document, and whether tabs before it count for nothing (`<<-`)."""

_STOPS = re.compile(r"""[\\'"`(){}$#\n<]""")
_ANSI_STOPS = re.compile(r"[\\']")
_DELIMITER = re.compile(r"""<<(-?)[ \t]*(?:'([^'\n]*)'|"([^"\n]*)"|\\?([^\s;&|<>()'"]+))""")
_NAMES = {"'": "single quote", '"': "double quote", "`": "backtick", ")": "parenthesis", "}": "brace"}


class Cursor:
    """Reads a Source from left to right."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.pos = 0

    def fail(self, closer: str, opened: int) -> NoReturn:
        """Raise UsageError: what was opened at `opened` is never closed."""
        raise UsageError(
            f"{self.source.place(opened)}: unterminated {_NAMES[closer]}: what is opened here is never closed with "
            f"{closer}; close it"
        )

    def find(self, closer: str, opened: int) -> int:
        """The offset of the next `closer` from here on."""
        found = self.text.find(closer, self.pos)
        if found < 0:
            self.fail(closer, opened)
        return found

    def ansi_end(self, opened: int) -> int:
        """The offset after the `'` that ends an ANSI-C string whose first character is here."""
        match = _ANSI_STOPS.search(self.text, self.pos)
        while match and match.group() == "\\":
            match = _ANSI_STOPS.search(self.text, match.end() + 1)
        if not match:
            self.fail("'", opened)
        return match.end()

    def skip(self, closer: str, opened: int, *, quoted: bool = False) -> str:
        """Move past the `closer` of a substitution opened at `opened`; returns the text before it.

        Iterative, so that no nesting exhausts the stack. `quoted` says that it stands between double quotes.
        """
        begin = self.pos
        _Skip(self, opened, quoted).run(closer)
        return self.text[begin : self.pos - 1]


class _Skip:
    """The stack of closers awaited inside `$(…)`, `${…}` or backticks."""

    def __init__(self, cursor: Cursor, opened: int, quoted: bool) -> None:
        self.cursor, self.text, self.opened = cursor, cursor.text, opened
        self.stack: list[str] = []
        self.double_quotes = int(quoted)
        self.documents: list[Delimiter] = []

    def run(self, closer: str) -> None:
        self.stack.append(closer)
        while self.stack:
            match = _STOPS.search(self.text, self.cursor.pos)
            if not match:
                self.cursor.pos = len(self.text)
                self.cursor.fail(closer, self.opened)
            self.cursor.pos = match.end()
            self._meet(match.group())

    def _meet(self, char: str) -> None:
        cursor, top = self.cursor, self.stack[-1]
        if char == "\\":
            cursor.pos += 1
        elif char == top:
            self._close()
        elif char == "$":
            self._dollar(top)
        elif char == "`":
            self._open(char)
        elif top != '"':
            self._unquoted(char, top)

    def _unquoted(self, char: str, top: str) -> None:
        cursor = self.cursor
        if char == "'" and not (top == "}" and self.double_quotes):
            cursor.pos = cursor.find("'", cursor.pos - 1) + 1
        elif char == '"':
            self._open(char)
        elif top == ")" and char == "(":
            self._open(")")
        elif top == ")" and char == "#" and self.text[cursor.pos - 2] in " \t\n;(":
            cursor.pos = _end_of_line(self.text, cursor.pos)
        elif top == ")" and char == "<":
            self._document()
        elif char == "\n" and self.documents:
            cursor.pos = skip_documents(self.text, cursor.pos, self.documents)

    def _dollar(self, top: str) -> None:
        following = self.text[self.cursor.pos : self.cursor.pos + 1]
        if following == "'" and top != '"':
            self.cursor.pos += 1
            self.cursor.pos = self.cursor.ansi_end(self.cursor.pos - 1)
        elif following in ("(", "{"):
            self.cursor.pos += 1
            self._open(")" if following == "(" else "}")

    def _document(self) -> None:
        match = _DELIMITER.match(self.text, self.cursor.pos - 1)
        if self.text.startswith("<<<", self.cursor.pos - 1):
            self.cursor.pos += 2
        elif match:
            dash, *names = match.groups()
            self.documents.append((next(name for name in names if name is not None), bool(dash)))
            self.cursor.pos = match.end()

    def _open(self, closer: str) -> None:
        self.stack.append(closer)
        self.double_quotes += closer == '"'

    def _close(self) -> None:
        self.double_quotes -= self.stack.pop() == '"'


def skip_documents(text: str, pos: int, delimiters: list[Delimiter]) -> int:
    """The offset after the here-documents that begin at `pos`; empties `delimiters`."""
    for delimiter, tabs in delimiters:
        while pos < len(text):
            end = _end_of_line(text, pos)
            line = text[pos:end]
            pos = end + 1
            if (line.lstrip("\t") if tabs else line) == delimiter:
                break
    delimiters.clear()
    return min(pos, len(text))


def _end_of_line(text: str, pos: int) -> int:
    found = text.find("\n", pos)
    return len(text) if found < 0 else found
