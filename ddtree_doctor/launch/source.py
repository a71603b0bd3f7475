"""Text with the line that each character came from, and why a stretch of it is not known before run time."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ddtree_doctor.errors import UsageError

if TYPE_CHECKING:
    from ddtree_doctor.launch.words import Piece

__all__ = ["MAX_BYTES", "Source", "decode"]

MAX_BYTES = 16 * 1024 * 1024
"""Largest launch file that is read. The largest published ones have some ten thousand bytes."""


class Source:
    """A text to be read by the shell's rules.

    `starts[i]` is the offset at which segment i begins, `lines[i]` its 1-based line in the user's file (None on the
    command line) and `whys[i]` why it is not known ("" where it is).
    """

    __slots__ = ("lines", "name", "starts", "text", "whys")

    def __init__(self, text: str, name: str, starts: list[int], lines: list[int | None], whys: list[str]) -> None:
        self.text, self.name, self.starts, self.lines, self.whys = text, name, starts, lines, whys

    @classmethod
    def of_text(cls, text: str, name: str, line: int | None = 1) -> Source:
        """A file's text whose first line is `line`."""
        starts = [0, *(match.end() for match in re.finditer("\n", text))]
        lines = [None if line is None else line + index for index in range(len(starts))]
        return cls(text, name, starts, lines, [""] * len(starts))

    @classmethod
    def of_pieces(cls, pieces: Iterable[Piece], name: str) -> Source:
        """The text that expansion left behind, as `bash -c` reads it again."""
        starts: list[int] = []
        lines: list[int | None] = []
        whys: list[str] = []
        texts: list[str] = []
        offset = 0
        for piece in pieces:
            starts.append(offset)
            lines.append(piece.line)
            whys.append(piece.why)
            texts.append(piece.text)
            offset += len(piece.text)
        return cls("".join(texts), name, starts or [0], lines or [None], whys or [""])

    def at(self, offset: int) -> tuple[int | None, str]:
        """The line of the character at `offset`, and why it is not known."""
        index = max(bisect_right(self.starts, offset) - 1, 0)
        return self.lines[index], self.whys[index]

    def starts_between(self, begin: int, end: int) -> list[int]:
        """The offsets inside (begin, end) at which a segment begins."""
        return self.starts[bisect_right(self.starts, begin) : bisect_left(self.starts, end)]

    def place(self, offset: int) -> str:
        """`run.sh:12` for a message."""
        line, _ = self.at(offset)
        return self.name if line is None else f"{self.name}:{line}"


def decode(data: bytes, name: str) -> str:
    """A launch file's bytes as text.

    Raises UsageError where they are too many, empty or binary. Bytes that are no UTF-8 are kept as escapes: a comment
    in another encoding does not hide the command below it.
    """
    if len(data) > MAX_BYTES:
        raise UsageError(too_large(name, len(data)))
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise UsageError(
            f"{name}:{line}: a binary file (it holds a NUL byte); give a text file with the launch command"
        )
    text = data.decode("utf-8-sig", "backslashreplace")
    if not text.strip():
        raise UsageError(f"{name}: the file is empty; give a text file with the launch command")
    return text


def too_large(name: str, size: int) -> str:
    """The message for a file above the limit."""
    return f"{name}: {size} bytes; a launch file has at most {MAX_BYTES}; give the script with the launch command"
