"""Groups a shell text's tokens into commands."""

from __future__ import annotations

from collections.abc import Sequence

from ddtree_doctor.launch.lexer import Token
from ddtree_doctor.launch.nodes import (
    Alternatives,
    AndOr,
    Arithmetics,
    Cut,
    Function,
    Group,
    Loop,
    Node,
    Pipeline,
    Simple,
)
from ddtree_doctor.launch.words import ArrayWord, Word

__all__ = ["parse"]

MAX_NESTING = 40
MAX_LINES_AHEAD = 64

CONTINUES = frozenset({"space-after-backslash", "comment-after-backslash", "carriage-return"})
"""Faults after which the next line was meant to belong to the command, whatever it begins with."""

_SEPARATORS = (";", "&")
_CASE_ENDS = (";;", ";&", ";;&")
_RESERVED = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}"))


class _Refused(Exception):
    """The text is no complete shell script."""


def parse(tokens: Sequence[Token]) -> tuple[Node, ...]:
    """The commands of a text, in order.

    A text that the shell's grammar refuses (prose around a command, a half-copied loop) gives its simple commands one
    by one: each may still be the launch that is asked about.
    """
    try:
        return _Parser(tokens).program()
    except _Refused:
        return _Parser(tokens).flat()


class _Parser:
    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0
        self.last: tuple[int, Simple] | None = None

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    @property
    def reserved(self) -> str:
        """The next word's text where nothing in it is quoted, "" otherwise."""
        word = self.token.word
        return (word.literal or "") if isinstance(word, Word) else ""

    @property
    def operator(self) -> str:
        return self.token.text if self.token.kind == "operator" else ""

    def program(self) -> tuple[Node, ...]:
        nodes = self.commands(())
        if self.token.kind != "end":
            raise _Refused
        return nodes

    def flat(self) -> tuple[Node, ...]:
        """Simple commands alone, whatever stands between them."""
        nodes: list[Node] = []
        while self.token.kind != "end":
            if self.token.kind != "word" or self.reserved in _RESERVED:
                self.at += 1
                continue
            nodes.append(self.with_rest(self.simple()))
        return tuple(nodes)

    def commands(self, stops: tuple[str, ...]) -> tuple[Node, ...]:
        """Commands up to one of the reserved words or operators in `stops`, which stays unread."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise _Refused
        nodes: list[Node] = []
        while not self.ends(stops):
            nodes.append(self.and_or())
            self.separator(stops)
        self.depth -= 1
        return tuple(nodes)

    def ends(self, stops: tuple[str, ...]) -> bool:
        while self.token.kind == "newline":
            self.at += 1
        if self.token.kind == "end":
            if stops:
                raise _Refused
            return True
        return self.operator in stops if self.operator else bool(self.reserved) and self.reserved in stops

    def separator(self, stops: tuple[str, ...]) -> None:
        if self.operator in _SEPARATORS:
            self.at += 1
        elif self.token.kind not in ("newline", "end") and self.operator not in stops:
            raise _Refused

    def and_or(self) -> Node:
        items: list[tuple[str, Node]] = [("", self.pipeline())]
        while self.operator in ("&&", "||"):
            operator = self.operator
            self.at += 1
            self.newlines()
            items.append((operator, self.pipeline()))
        return items[0][1] if len(items) == 1 else AndOr(tuple(items))

    def newlines(self) -> None:
        while self.token.kind == "newline":
            self.at += 1

    def pipeline(self) -> Node:
        while self.reserved == "!":
            self.at += 1
        items = [self.command()]
        while self.operator in ("|", "|&"):
            self.at += 1
            self.newlines()
            items.append(self.command())
        return items[0] if len(items) == 1 else Pipeline(tuple(items))

    def command(self) -> Node:
        if self.token.kind == "arithmetic":
            self.at += 1
            return Arithmetics(self.tokens[self.at - 1].text, self.tokens[self.at - 1].line)
        if self.operator == "(":
            return self.enclosed(")", subshell=True)
        if self.token.kind != "word" or self.reserved in _RESERVED:
            raise _Refused
        compound = _COMPOUNDS.get(self.reserved)
        if compound:
            return compound(self)
        if self.defines_function():
            name = self.reserved
            self.at += 3
            return self.function(name)
        return self.with_rest(self.simple())

    def defines_function(self) -> bool:
        following = [token.text for token in self.tokens[self.at + 1 : self.at + 3]]
        return bool(self.reserved) and following == ["(", ")"]

    def enclosed(self, closer: str, *, subshell: bool) -> Node:
        self.at += 1
        body = self.commands((closer,))
        self.at += 1
        return Group(body, subshell)

    def braces(self) -> Node:
        return self.enclosed("}", subshell=False)

    def function_keyword(self) -> Node:
        self.at += 1
        name = self.reserved
        self.at += 1
        if self.operator == "(":
            self.expect("(")
            self.expect(")")
        return self.function(name)

    def function(self, name: str) -> Node:
        self.newlines()
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise _Refused
        body = self.command()
        self.depth -= 1
        return Function(name, body)

    def expect(self, text: str) -> None:
        """Read this reserved word or operator."""
        if text not in (self.operator, self.reserved):
            raise _Refused
        self.at += 1

    def if_command(self) -> Node:
        line = self.token.line
        conditions: list[Node] = []
        bodies: list[tuple[Node, ...]] = []
        while self.reserved in ("if", "elif"):
            self.at += 1
            conditions += self.commands(("then",))
            self.expect("then")
            bodies.append(self.commands(("elif", "else", "fi")))
        complete = self.reserved == "else"
        if complete:
            self.at += 1
            bodies.append(self.commands(("fi",)))
        self.expect("fi")
        return Alternatives(tuple(conditions), tuple(bodies), complete, line)

    def for_command(self) -> Node:
        line = self.token.line
        self.at += 1
        name = self.reserved
        while self.token.kind not in ("newline", "end") and self.operator != ";":
            self.at += 1
        if self.operator == ";":
            self.at += 1
        self.newlines()
        return Loop(name, self.do(), line)

    def while_command(self) -> Node:
        line = self.token.line
        self.at += 1
        conditions = self.commands(("do",))
        return Loop("", conditions + self.do(), line)

    def do(self) -> tuple[Node, ...]:
        closer = "}" if self.reserved == "{" else "done"
        self.expect("{" if closer == "}" else "do")
        body = self.commands((closer,))
        self.at += 1
        return body

    def case_command(self) -> Node:
        line = self.token.line
        self.at += 2
        self.newlines()
        self.expect("in")
        self.newlines()
        bodies: list[tuple[Node, ...]] = []
        while self.reserved != "esac":
            self.pattern()
            bodies.append(self.commands((*_CASE_ENDS, "esac")))
            if self.operator in _CASE_ENDS:
                self.at += 1
            self.newlines()
        self.at += 1
        return Alternatives((), tuple(bodies), False, line)

    def pattern(self) -> None:
        if self.operator == "(":
            self.at += 1
        while self.operator != ")":
            if self.token.kind in ("newline", "end"):
                raise _Refused
            self.at += 1
        self.at += 1

    def double_bracket(self) -> Node:
        first = self.token
        while self.reserved != "]]":
            if self.token.kind == "end":
                raise _Refused
            self.at += 1
        self.at += 1
        return Simple((first.word,) if first.word else (), first.line)

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

        Lines that begin with `-` are no commands and are used up; others are looked at and stay where they are.
        """
        rest: list[tuple[Cut, Simple]] = []
        resume = -1
        while len(rest) < MAX_LINES_AHEAD or resume < 0:
            cut = self.cut()
            if not cut:
                break
            if resume < 0 and not self.begins_with_dash():
                resume = self.at
            rest.append((cut, self.simple()))
        if resume >= 0:
            self.at = resume
        return head._replace(rest=tuple(rest)) if rest else head

    def begins_with_dash(self) -> bool:
        word = self.token.word
        return isinstance(word, Word) and word.begins.startswith("-")

    def cut(self) -> Cut | None:
        """Move to the next line and say why it was meant to belong to this command; None (unmoved) if it was not."""
        here = self.at
        first = self.token
        if first.kind != "newline":
            return None
        self.newlines()
        if self.begins_with_dash():
            return Cut(first.cut or "missing-backslash", first.line)
        if first.cut in CONTINUES and self.at == here + 1 and self.token.kind == "word" and not self.reserved_word():
            return Cut(first.cut, first.line)
        self.at = here
        return None

    def reserved_word(self) -> bool:
        return self.reserved in _COMPOUNDS or self.reserved in _RESERVED


_COMPOUNDS = {
    "if": _Parser.if_command,
    "for": _Parser.for_command,
    "select": _Parser.for_command,
    "while": _Parser.while_command,
    "until": _Parser.while_command,
    "case": _Parser.case_command,
    "{": _Parser.braces,
    "[[": _Parser.double_bracket,
    "function": _Parser.function_keyword,
}
