"""Splits a shell text into words, operators and line ends, linear in its length."""

from __future__ import annotations

import re
from typing import NamedTuple

from ddtree_doctor.errors import UsageError
from ddtree_doctor.launch.cursor import Delimiter, skip_documents
from ddtree_doctor.launch.source import Source
from ddtree_doctor.launch.spelling import Speller
from ddtree_doctor.launch.words import ArrayWord, Word

__all__ = ["Token", "tokenize"]

MAX_TOKENS = 200_000

_BLANK = re.compile(r"(?:[ \t]+|\\\n)+")
_COMMENT = re.compile(r"#[^\n]*")
_OPERATOR = re.compile(r"&&|\|\||\|&|;;&|;&|;;|[&|;()]")
_REDIRECTION = re.compile(r"&>>|&>|<<<|<<-|<<|<&|<>|>>|>&|>\||[<>]")
_PARENTHESIS = re.compile(r"[()]")
_ARRAY = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=\Z")


class Token(NamedTuple):
    """`kind` is `word`, `operator`, `arithmetic`, `newline` or `end`.

    `cut` of a newline names the fault by which a command ends there although its text goes on.
    """

    kind: str
    text: str
    line: int | None
    word: Word | ArrayWord | None = None
    cut: str = ""


def tokenize(source: Source) -> list[Token]:
    """The tokens of a shell text, comments, here-documents and redirections left out, an `end` last.

    Raises UsageError for a quote or substitution that is never closed.
    """
    return _Lexer(source).all()


class _Lexer(Speller):
    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.tokens: list[Token] = []
        self.documents: list[Delimiter] = []
        self.continued = False
        self.swallowed = ""
        self.no_arithmetic = 0

    def all(self) -> list[Token]:
        size = len(self.text)
        while self.pos < size:
            if len(self.tokens) > MAX_TOKENS:
                raise UsageError(
                    f"{self.source.place(self.pos)}: more than {MAX_TOKENS} words; give the launch command alone"
                )
            self._blank()
            if self.pos < size:
                self._token()
        self._add("end", "", size)
        return self.tokens

    def _add(self, kind: str, text: str, begin: int, *, cut: str = "") -> None:
        self.tokens.append(Token(kind, text, self.source.at(begin).line, None, cut))

    def _blank(self) -> None:
        if match := _BLANK.match(self.text, self.pos):
            self.continued = self.continued or "\n" in match.group()
            self.pos = match.end()

    def _token(self) -> None:
        char = self.text[self.pos]
        if char == "\n":
            self._newline()
        elif char == "#":
            self._comment()
        elif char in "&<>" and (match := _REDIRECTION.match(self.text, self.pos)) and self._redirects(match):
            return
        elif char in "&|;()":
            self._operator()
        else:
            self._word()

    def _newline(self) -> None:
        begin = self.pos
        blank_line = "blank-line" if self.continued else ""
        cut = self.junk if begin == self.junk_end else self.swallowed or blank_line
        self._add("newline", "", begin, cut=cut)
        self.pos += 1
        self.continued, self.swallowed = False, ""
        if self.documents:
            self.pos = skip_documents(self.text, self.pos, self.documents)

    def _comment(self) -> None:
        match = _COMMENT.match(self.text, self.pos)
        comment = match.group() if match else "#"
        self.pos += len(comment)
        if self.continued:
            self.swallowed = "comment-among-flags"
        elif comment.rstrip().endswith("\\"):
            self.swallowed = "comment-before-backslash"

    def _redirects(self, match: re.Match[str]) -> bool:
        """Leave a redirection out with its target; False where a placeholder or substitution begins a word."""
        begin = self.pos
        word = self.word()
        if word.parts:
            self._word_token(word, begin)
            return True
        self.pos = match.end()
        self._blank()
        target = self.pos
        self.word()
        if match.group() in ("<<", "<<-"):
            name = re.sub(r"[\\'\"]", "", self.text[target : self.pos])
            self.documents.append((name, match.group() == "<<-"))
        return True

    def _operator(self) -> None:
        begin = self.pos
        if self.text.startswith("((", begin) and begin >= self.no_arithmetic and self._arithmetic_command():
            return
        match = _OPERATOR.match(self.text, begin)
        operator = match.group() if match else self.text[begin]
        self.pos = begin + len(operator)
        self._add("operator", operator, begin)
        self.continued = False

    def _arithmetic_command(self) -> bool:
        """`((…))`; two subshells that begin together are none."""
        begin = self.pos
        inner, outer = _closing(self.text, begin)
        if outer < 0 or inner != outer - 1:
            self.no_arithmetic = len(self.text) if outer < 0 else outer
            return False
        self._add("arithmetic", self.text[begin + 2 : inner], begin)
        self.pos = outer + 1
        return True

    def _word(self) -> None:
        begin = self.pos
        word = self.word()
        if not word.parts and self.pos == begin:
            self.pos += 1
            return
        self._word_token(word, begin)

    def _word_token(self, word: Word, begin: int) -> None:
        following = self.text[self.pos : self.pos + 1]
        if following and following in "<>" and (word.literal or "").isdigit():
            return
        self.continued = self.text.endswith("\\\n", begin, self.pos)
        array = _ARRAY.match(word.literal or "") if following == "(" else None
        if array:
            self.tokens.append(self._array(array.group(1), bool(array.group(2)), word.line))
        elif word.parts:
            self.tokens.append(Token("word", "", word.line, word))

    def _array(self, name: str, append: bool, line: int | None) -> Token:
        opened = self.pos
        self.pos += 1
        items: list[Word] = []
        while True:
            self._blank()
            char = self.text[self.pos : self.pos + 1]
            if not char:
                self.fail(")", opened)
            if char == ")":
                break
            self._item(char, items)
        self.pos += 1
        self.continued, self.swallowed = False, ""
        return Token("word", "", line, ArrayWord(name, append, tuple(items), line))

    def _item(self, char: str, items: list[Word]) -> None:
        begin = self.pos
        if char == "#" and (match := _COMMENT.match(self.text, begin)):
            self.pos = match.end()
            return
        word = self.word()
        if word.parts:
            items.append(word)
        elif self.pos == begin:
            self.pos += 1


def _closing(text: str, begin: int) -> tuple[int, int]:
    """The offsets of the `)` that close the second and the first `(` of `((`, -1 where none does."""
    depth, inner = 0, -1
    for match in _PARENTHESIS.finditer(text, begin):
        depth += 1 if match.group() == "(" else -1
        if depth == 1 and inner < 0 and match.group() == ")":
            inner = match.start()
        if not depth:
            return inner, match.start()
    return inner, -1
