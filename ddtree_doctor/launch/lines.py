"""Reads simple commands from tokens, each with the lines below it that were meant to be its own."""

from __future__ import annotations

from collections.abc import Sequence

from ddtree_doctor.launch.lexer import Token
from ddtree_doctor.launch.nodes import Cut, Simple
from ddtree_doctor.launch.words import ArrayWord, Word

__all__ = ["COMPOUND", "RESERVED", "Lines", "Refused"]

MAX_LINES_AHEAD = 8

CONTINUES = frozenset({"space-after-backslash", "comment-after-backslash", "carriage-return"})
"""Faults after which the next line was meant to belong to the command, whatever it begins with."""

RESERVED = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}"))
"""Words that begin no command."""

COMPOUND = frozenset(("if", "for", "select", "while", "until", "case", "{", "[[", "function"))
"""Words that begin a compound command."""


class Refused(Exception):
    """The text is no complete shell script."""


class Lines:
    """A position among tokens."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.at = 0

    @property
    def token(self) -> Token:
        """The next token; the last one, `end`, never passes."""
        return self.tokens[min(self.at, len(self.tokens) - 1)]

    @property
    def reserved(self) -> str:
        """The next word's text where nothing in it is quoted, "" otherwise."""
        word = self.token.word
        return (word.literal or "") if isinstance(word, Word) else ""

    @property
    def operator(self) -> str:
        """The next token's text where it is an operator, "" otherwise."""
        return self.token.text if self.token.kind == "operator" else ""

    def newlines(self) -> None:
        """Move past line ends."""
        while self.token.kind == "newline":
            self.at += 1

    def expect(self, text: str) -> None:
        """Read this reserved word or operator."""
        if text not in (self.operator, self.reserved):
            raise Refused
        self.at += 1

    def simple(self) -> Simple:
        """The words up to the next operator or line end."""
        line = self.token.line
        words: list[Word | ArrayWord] = []
        while self.token.kind == "word" and self.token.word:
            words.append(self.token.word)
            self.at += 1
        return Simple(tuple(words), line)

    def with_rest(self, head: Simple) -> Simple:
        """`head` with the commands after it that were meant to be its next lines.

        Lines that begin with an option are no commands and are used up; others are looked at and stay where they are.
        """
        rest: list[tuple[Cut, Simple]] = []
        resume = -1
        while len(rest) < MAX_LINES_AHEAD or resume < 0:
            cut = self.cut()
            if not cut:
                break
            if resume < 0 and not self.at_option():
                resume = self.at
            rest.append((cut, self.simple()))
        if resume >= 0:
            self.at = resume
        return head._replace(rest=tuple(rest)) if rest else head

    def at_option(self) -> bool:
        """Whether the next word is an option, which no command begins with."""
        word = self.token.word
        return isinstance(word, Word) and word.like_option

    def cut(self) -> Cut | None:
        """Move to the next line and say why it was meant to belong to this command; None (unmoved) if it was not."""
        here = self.at
        first = self.token
        if first.kind != "newline":
            return None
        self.newlines()
        if self.at_option():
            return Cut(first.cut or "missing-backslash", first.line)
        if first.cut in CONTINUES and self.at == here + 1 and self.token.kind == "word" and not self.reserved_word():
            return Cut(first.cut, first.line)
        self.at = here
        return None

    def reserved_word(self) -> bool:
        """Whether the next word belongs to the shell's grammar."""
        return self.reserved in COMPOUND or self.reserved in RESERVED
