"""Groups a shell text's tokens into commands."""

from __future__ import annotations

from collections.abc import Sequence

from ddtree_doctor.launch.lexer import Token
from ddtree_doctor.launch.lines import RESERVED, Lines, Refused
from ddtree_doctor.launch.nodes import (
    Alternatives,
    AndOr,
    Arithmetics,
    Function,
    Group,
    Loop,
    Node,
    Pipeline,
    Simple,
)
from ddtree_doctor.launch.words import Parameter, Word

__all__ = ["parse"]

MAX_NESTING = 40
ARGUMENTS = frozenset(("1", "@", "*", "#"))

_SEPARATORS = (";", "&")
_CASE_ENDS = (";;", ";&", ";;&")


def parse(tokens: Sequence[Token]) -> tuple[Node, ...]:
    """The commands of a text, in order.

    A text that the shell's grammar refuses (prose around a command, a half-copied loop) gives its simple commands one
    by one: each may still be the launch that is asked about.
    """
    try:
        return _Parser(tokens).program()
    except Refused:
        return _Parser(tokens).flat()


class _Parser(Lines):
    def __init__(self, tokens: Sequence[Token]) -> None:
        super().__init__(tokens)
        self.depth = 0

    def program(self) -> tuple[Node, ...]:
        nodes = self.commands(())
        if self.token.kind != "end":
            raise Refused
        return nodes

    def flat(self) -> tuple[Node, ...]:
        """Simple commands alone, whatever stands between them."""
        nodes: list[Node] = []
        while self.token.kind != "end":
            if self.token.kind != "word" or self.reserved in RESERVED:
                self.at += 1
                continue
            nodes.append(self.with_rest(self.simple()))
        return tuple(nodes)

    def commands(self, stops: tuple[str, ...]) -> tuple[Node, ...]:
        """Commands up to one of the reserved words or operators in `stops`, which stays unread."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise Refused
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
                raise Refused
            return True
        return self.operator in stops if self.operator else bool(self.reserved) and self.reserved in stops

    def separator(self, stops: tuple[str, ...]) -> None:
        if self.operator in _SEPARATORS:
            self.at += 1
        elif self.token.kind not in ("newline", "end") and self.operator not in stops:
            raise Refused

    def and_or(self) -> Node:
        items: list[tuple[str, Node]] = [("", self.pipeline())]
        while self.operator in ("&&", "||"):
            operator = self.operator
            self.at += 1
            self.newlines()
            items.append((operator, self.pipeline()))
        return items[0][1] if len(items) == 1 else AndOr(tuple(items))

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
        if self.token.kind != "word" or self.reserved in RESERVED:
            raise Refused
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
            raise Refused
        body = self.command()
        self.depth -= 1
        return Function(name, body)

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
        start = self.at
        while self.token.kind not in ("newline", "end") and self.operator != ";":
            self.at += 1
        over_arguments = self.on_arguments(start) or self.at == start + 1
        if self.operator == ";":
            self.at += 1
        self.newlines()
        return Loop(name, self.do(), line, over_arguments)

    def while_command(self) -> Node:
        line = self.token.line
        self.at += 1
        start = self.at
        conditions = self.commands(("do",))
        over_arguments = self.on_arguments(start)
        return Loop("", conditions + self.do(), line, over_arguments)

    def on_arguments(self, start: int) -> bool:
        """Whether the words from `start` to here speak of the script's arguments."""
        words = [token.word for token in self.tokens[start : self.at] if isinstance(token.word, Word)]
        parts = [part for word in words for part in word.parts]
        return any(isinstance(part, Parameter) and part.name in ARGUMENTS for part in parts)

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
                raise Refused
            self.at += 1
        self.at += 1

    def double_bracket(self) -> Node:
        first = self.token
        while self.reserved != "]]":
            if self.token.kind == "end":
                raise Refused
            self.at += 1
        self.at += 1
        return Simple((first.word,) if first.word else (), first.line)


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
