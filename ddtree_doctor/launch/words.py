"""What a shell word is before and after expansion."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

__all__ = ["Arithmetic", "ArrayWord", "Field", "Parameter", "Part", "Piece", "Word"]

_OPTION = re.compile(r"--?[A-Za-z]")


class Piece(NamedTuple):
    """Text of one line and one kind of quoting.

    `why` says why the text is not known before run time. `junk` names the fault in the file that put it here (the rest
    of a line after `\\ `), "" where it is meant. `assumed` says what was assumed for it, such as a default taken.
    """

    text: str
    line: int | None
    quoted: bool = False
    why: str = ""
    junk: str = ""
    assumed: str = ""


class Parameter(NamedTuple):
    """`$NAME` or `${NAME[subscript]operator argument}`. `shown` is how a message names it, without its argument."""

    name: str
    line: int | None
    quoted: bool
    subscript: str = ""
    operator: str = ""
    argument: tuple[Part, ...] = ()
    junk: str = ""

    @property
    def shown(self) -> str:
        """`$NAME`."""
        return f"${self.name}" if not self.subscript else f"${{{self.name}[{self.subscript}]}}"


class Arithmetic(NamedTuple):
    """`$((text))`."""

    text: str
    line: int | None
    quoted: bool
    junk: str = ""


Part: TypeAlias = "Piece | Parameter | Arithmetic"


class Word(NamedTuple):
    """One word as written."""

    parts: tuple[Part, ...]
    line: int | None

    @property
    def literal(self) -> str | None:
        """The text where nothing in it is quoted or expanded (only then can it be a reserved word), else None."""
        first = self.parts[0] if len(self.parts) == 1 else None
        return first.text if isinstance(first, Piece) and not first.quoted else None

    @property
    def like_option(self) -> bool:
        """Whether it begins as an option does and as no command."""
        return bool(_OPTION.match(self.begins))

    @property
    def begins(self) -> str:
        """The unquoted text it begins with, "" where it begins otherwise."""
        first = self.parts[0] if self.parts else None
        return first.text if isinstance(first, Piece) and not first.quoted else ""


class ArrayWord(NamedTuple):
    """`NAME=(items)` or `NAME+=(items)`."""

    name: str
    append: bool
    items: tuple[Word, ...]
    line: int | None


@dataclass(frozen=True, slots=True)
class Field:
    """One word after expansion, as the command receives it.

    `clean` is the text without what a fault in the file put there, None where nothing remains. `bare` says that no part
    of it is quoted.
    """

    text: str
    line: int | None
    why: str
    bare: bool
    clean: str | None
    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, pieces: tuple[Piece, ...]) -> Field:
        """The field that these pieces make."""
        first = pieces[0] if pieces else None
        if len(pieces) == 1 and first and not first.junk:
            return cls(first.text, first.line, first.why, not first.quoted, first.text, pieces)
        meant = [piece.text for piece in pieces if not piece.junk]
        return cls(
            text="".join([piece.text for piece in pieces]),
            line=next((piece.line for piece in pieces if piece.line is not None), None),
            why=next((piece.why for piece in pieces if piece.why), ""),
            bare=not any(piece.quoted for piece in pieces),
            clean="".join(meant) if meant else None,
            pieces=pieces,
        )

    @classmethod
    def plain(cls, text: str, line: int | None = None, why: str = "") -> Field:
        """A field of known text."""
        return cls.of((Piece(text, line, why=why),))

    def with_text(self, text: str) -> Field:
        """The same place with other text."""
        return Field.of((Piece(text, self.line, not self.bare, self.why),))
