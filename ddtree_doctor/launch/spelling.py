"""Reads shell words: quotes, escapes, parameters and substitutions."""

from __future__ import annotations

import re

from ddtree_doctor.errors import UsageError
from ddtree_doctor.launch.ansi import unescape
from ddtree_doctor.launch.cursor import Cursor
from ddtree_doctor.launch.source import Source
from ddtree_doctor.launch.words import Arithmetic, Parameter, Part, Piece, Word

__all__ = ["Speller"]

MAX_DEPTH = 40

_PLAIN = re.compile(r"[^ \t\n\\'\"$`|&;()<>]+")
_PLAIN_AROUND_TEMPLATES = re.compile(r"(?:[^ \t\n\\'\"$`|&;()<>{]|\{(?!\{))+")
_TEMPLATE = re.compile(r"\{\{[^{}\n]{1,200}\}\}")
_IN_QUOTES = re.compile(r'[^\\"$`]+')
_IN_ARGUMENT = re.compile(r"[^\\'\"$`}]+")
_IN_QUOTED_ARGUMENT = re.compile(r'[^\\"$`}]+')
_PARAMETER = re.compile(r"\$(?:\\\n)*(?:([A-Za-z_](?:(?:\\\n)*[A-Za-z0-9_])*)|([0-9@*#?$!-]))")
_OLD_ARITHMETIC = re.compile(r"\$\[([^\]\n]{0,200})\]")
_BRACED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])(?:\[([@*]|-?[0-9]+)\])?(:?[-=+?])?")
_PLACEHOLDER = re.compile(r"<[A-Za-z](?:[A-Za-z0-9_ .:/|-]{0,80}[A-Za-z0-9_.])?>(?=[\s/:,'\"\\.)]|$)")
_TRAILING = re.compile(r"\\[ \t\r]+(#[^\n]*)?(?=\n|\Z)")
_COMMAND = re.compile(r"\s*([A-Za-z][A-Za-z0-9_.-]*)(?=\s|\Z)")


class Speller(Cursor):
    """Reads one word after the other."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.plain = _PLAIN_AROUND_TEMPLATES if "{{" in source.text else _PLAIN
        self.junk = ""
        self.junk_end = -1
        self.depth = 0

    def word(self) -> Word:
        """The word that begins here, empty where none does."""
        begin = self.pos
        parts: list[Part] = []
        while self.pos < len(self.text) and self._unquoted(parts):
            pass
        return Word(tuple(parts), self.source.at(begin).line)

    def piece(self, text: str, begin: int, *, quoted: bool, why: str = "") -> Piece:
        """A piece whose text stood at `begin`."""
        mark = self.source.at(begin)
        return Piece(text, mark.line, quoted, why or mark.why, self._junk_at(begin), mark.assumed)

    def run(self, begin: int, end: int, parts: list[Part], *, quoted: bool) -> None:
        """Take text as it stands, one piece a segment so that each knows where it came from, and move past it."""
        for first, last in self.source.spans(begin, end):
            parts.append(self.piece(self.text[first:last], first, quoted=quoted))
        self.pos = end

    def _junk_at(self, begin: int) -> str:
        return self.junk if begin < self.junk_end else ""

    def _unquoted(self, parts: list[Part]) -> bool:
        """Read one part outside quotes; False where the word ends."""
        if match := self.plain.match(self.text, self.pos):
            self.run(self.pos, match.end(), parts, quoted=False)
            return True
        char = self.text[self.pos]
        if char == "{":
            return self._template(parts)
        if char in "<>":
            return self._angle(parts)
        return char not in " \t\n|&;()" and self._special(char, parts)

    def _template(self, parts: list[Part]) -> bool:
        """`{{ … }}` of a template engine is one placeholder, blanks and all; other braces are text."""
        match = _TEMPLATE.match(self.text, self.pos)
        text = match.group() if match else "{"
        why = "{{…}} is a placeholder to be filled in" if match else ""
        parts.append(self.piece(text, self.pos, quoted=False, why=why))
        self.pos += len(text)
        return True

    def _special(self, char: str, parts: list[Part]) -> bool:
        if char == "\\":
            self._escape(parts)
        elif char == "'":
            self._single(parts)
        elif char == '"':
            self._double(parts)
        elif char == "`":
            self._backtick(parts, quoted=False)
        else:
            self._dollar(parts, quoted=False)
        return True

    def _escape(self, parts: list[Part]) -> None:
        begin, following = self.pos, self.text[self.pos + 1 : self.pos + 2]
        self.pos = begin + 1 + len(following)
        if following in (" ", "\t", "\r") and begin >= self.junk_end:
            self._mark_junk(begin)
        if following != "\n":
            parts.append(self.piece(following or "\\", begin, quoted=True))

    def _mark_junk(self, begin: int) -> None:
        """A backslash that continues nothing because blanks or a comment follow it: the rest of the line is a fault."""
        if match := _TRAILING.match(self.text, begin):
            returns = "carriage-return" if "\r" in match.group() else "space-after-backslash"
            self.junk = "comment-after-backslash" if match.group(1) else returns
            self.junk_end = match.end()

    def _single(self, parts: list[Part]) -> None:
        begin = self.pos
        self.pos += 1
        self.run(self.pos, self.find("'", begin), parts, quoted=True)
        self.pos += 1

    def _double(self, parts: list[Part]) -> None:
        begin, before = self.pos, len(parts)
        self.pos += 1
        self._until('"', _IN_QUOTES, begin, parts)
        if len(parts) == before:
            parts.append(self.piece("", begin, quoted=True))

    def _until(self, closer: str, plain: re.Pattern[str], opened: int, parts: list[Part]) -> None:
        """Read quoted parts up to `closer` and past it."""
        while self.pos < len(self.text):
            if match := plain.match(self.text, self.pos):
                self.run(self.pos, match.end(), parts, quoted=True)
            elif self.text[self.pos] == closer:
                self.pos += 1
                return
            else:
                self._inside(self.text[self.pos], parts)
        self.fail(closer, opened)

    def _inside(self, char: str, parts: list[Part]) -> None:
        begin = self.pos
        if char == "\\":
            following = self.text[begin + 1 : begin + 2]
            self.pos += 2
            if following != "\n":
                text = following if following and following in '$`"\\' else "\\" + following
                parts.append(self.piece(text, begin, quoted=True))
        elif char == "`":
            self._backtick(parts, quoted=True)
        elif char == '"':
            self._double(parts)
        else:
            self._dollar(parts, quoted=True)

    def _backtick(self, parts: list[Part], *, quoted: bool) -> None:
        begin = self.pos
        self.pos += 1
        self._opaque(self.skip("`", begin, quoted=quoted), begin, parts, quoted=quoted)

    def _opaque(self, inside: str, begin: int, parts: list[Part], *, quoted: bool) -> None:
        """A command's output. Only the command's name is kept: its words may hold secrets."""
        match = _COMMAND.match(inside)
        shown = f"$({match.group(1)} …)" if match and match.end() < len(inside.rstrip()) else ""
        shown = shown or (f"$({match.group(1)})" if match else "$(…)")
        parts.append(self.piece(shown, begin, quoted=quoted, why=f"`{shown}` is known only when it runs"))

    def _dollar(self, parts: list[Part], *, quoted: bool) -> None:
        begin, following = self.pos, self.text[self.pos + 1 : self.pos + 2]
        if following == "{":
            self._braced(parts, quoted=quoted)
        elif following == "(":
            self._substitution(parts, quoted=quoted)
        elif following == "'" and not quoted:
            self.pos += 2
            end = self.ansi_end(begin)
            parts.append(self.piece(unescape(self.text[self.pos : end - 1]), begin, quoted=True))
            self.pos = end
        elif following == '"' and not quoted:
            self.pos += 1
            self._double(parts)
        elif match := _PARAMETER.match(self.text, begin):
            name = match.group(1) or match.group(2)
            self.pos = match.end()
            parts.append(self._parameter(name.replace("\\\n", ""), begin, quoted=quoted))
        elif match := _OLD_ARITHMETIC.match(self.text, begin):
            self.pos = match.end()
            self._arithmetic(match.group(1), begin, parts, quoted=quoted)
        else:
            self.pos += 1
            parts.append(self.piece("$", begin, quoted=quoted))

    def _parameter(
        self,
        name: str,
        begin: int,
        *,
        quoted: bool,
        index: str = "",
        operator: str = "",
        argument: tuple[Part, ...] = (),
    ) -> Parameter:
        line = self.source.at(begin).line
        return Parameter(name, line, quoted, index, operator, argument, self._junk_at(begin))

    def _substitution(self, parts: list[Part], *, quoted: bool) -> None:
        begin = self.pos
        arithmetic = self.text.startswith("$((", begin)
        self.pos += 2
        inside = self.skip(")", begin)
        if arithmetic and inside.endswith(")"):
            self._arithmetic(inside[1:-1], begin, parts, quoted=quoted)
        else:
            self._opaque(inside, begin, parts, quoted=quoted)

    def _arithmetic(self, text: str, begin: int, parts: list[Part], *, quoted: bool) -> None:
        line = self.source.at(begin).line
        parts.append(Arithmetic(text, line, quoted, self._junk_at(begin)))

    def _braced(self, parts: list[Part], *, quoted: bool) -> None:
        begin = self.pos
        match = _BRACED.match(self.text, begin + 2)
        closes = match and self.text[match.end() : match.end() + 1] == "}"
        if match and (match.group(3) or closes):
            self.pos = match.end()
            argument = self._argument(begin, quoted=quoted) if match.group(3) else self._no_argument()
            name, index, operator = match.groups(default="")
            parts.append(self._parameter(name, begin, quoted=quoted, index=index, operator=operator, argument=argument))
            return
        self.pos = begin + 2
        self.skip("}", begin, quoted=quoted)
        shown = f"${{{match.group(1)}…}}" if match else "${…}"
        parts.append(self.piece(shown, begin, quoted=quoted, why=f"`{shown}` is computed by the shell when it runs"))

    def _no_argument(self) -> tuple[Part, ...]:
        self.pos += 1
        return ()

    def _argument(self, begin: int, *, quoted: bool) -> tuple[Part, ...]:
        """The word after an operator, up to the `}` and past it."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UsageError(
                f"{self.source.place(begin)}: parameters are nested more than {MAX_DEPTH} deep; simplify the line"
            )
        parts: list[Part] = []
        if quoted:
            self._until("}", _IN_QUOTED_ARGUMENT, begin, parts)
        else:
            self._until_brace(begin, parts)
        self.depth -= 1
        return tuple(parts)

    def _until_brace(self, begin: int, parts: list[Part]) -> None:
        while self.pos < len(self.text):
            if match := _IN_ARGUMENT.match(self.text, self.pos):
                self.run(self.pos, match.end(), parts, quoted=False)
            elif self.text[self.pos] == "}":
                self.pos += 1
                return
            else:
                self._special(self.text[self.pos], parts)
        self.fail("}", begin)

    def _angle(self, parts: list[Part]) -> bool:
        """`<PLACEHOLDER>` and process substitution belong to the word; any other `<` or `>` ends it."""
        begin = self.pos
        if match := _PLACEHOLDER.match(self.text, begin):
            why = f"{match.group()} is a placeholder to be filled in"
            parts.append(self.piece(match.group(), begin, quoted=False, why=why))
            self.pos = match.end()
            return True
        if self.text.startswith(("<(", ">("), begin) and not parts:
            self.pos += 2
            self._opaque(self.skip(")", begin), begin, parts, quoted=False)
            return True
        return False
