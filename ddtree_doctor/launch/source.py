"""Text with the line that each character came from, and why a stretch of it is not known before run time."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from ddtree_doctor.errors import UsageError

if TYPE_CHECKING:
    from ddtree_doctor.launch.words import Piece

__all__ = ["MAX_BYTES", "Mark", "Source", "decode", "too_large"]

MAX_BYTES = 16 * 1024 * 1024
"""Largest launch file that is read. The largest published ones have some ten thousand bytes."""


class Mark(NamedTuple):
    """Where a stretch of text came from: its 1-based line (None on the command line), and what is said about it."""

    line: int | None
    why: str = ""
    assumed: str = ""


class Source:
    """A text to be read by the shell's rules: `marks[i]` is of the segment that begins at offset `starts[i]`."""

    __slots__ = ("marks", "name", "starts", "text")

    def __init__(self, text: str, name: str, starts: list[int], marks: list[Mark]) -> None:
        self.text, self.name, self.starts, self.marks = text, name, starts, marks

    @classmethod
    def of_text(cls, text: str, name: str, line: int = 1) -> Source:
        """A file's text whose first line is `line`; each line is a segment."""
        starts = [0, *(match.end() for match in re.finditer("\n", text))]
        return cls(text, name, starts, [Mark(line + index) for index in range(len(starts))])

    @classmethod
    def of_pieces(cls, pieces: Iterable[Piece], name: str) -> Source:
        """The text that expansion left behind, as `bash -c` reads it again; each piece is a segment."""
        kept = [piece for piece in pieces if piece.text]
        starts = list(accumulate((len(piece.text) for piece in kept), initial=0))
        marks = [Mark(piece.line, piece.why, piece.assumed) for piece in kept]
        return cls("".join(piece.text for piece in kept), name, starts, [*marks, *(marks[-1:] or [Mark(None)])])

    def at(self, offset: int) -> Mark:
        """What the character at `offset` is marked with."""
        return self.marks[max(bisect_right(self.starts, offset) - 1, 0)]

    def spans(self, begin: int, end: int) -> list[tuple[int, int]]:
        """(begin, end) cut where segments meet; one empty span where it is empty."""
        cuts = [begin, *self.starts[bisect_right(self.starts, begin) : bisect_left(self.starts, end)], end]
        return list(pairwise(cuts))

    def place(self, offset: int) -> str:
        """`run.sh:12` for a message."""
        line = self.at(offset).line
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
