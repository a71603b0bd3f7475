"""Follows a shell text from top to bottom, without running anything, and gathers the launches in it.

Bash's rules for assignments, exports, functions and `exit` decide what a command receives.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ddtree_doctor.launch import builtins
from ddtree_doctor.launch.command import Command, Found, Script
from ddtree_doctor.launch.expansion import Expander
from ddtree_doctor.launch.flow import Flow
from ddtree_doctor.launch.grammar import parse
from ddtree_doctor.launch.lexer import tokenize
from ddtree_doctor.launch.nodes import Cut, Simple
from ddtree_doctor.launch.scope import Budget, Remark, Scalar, Scope
from ddtree_doctor.launch.seek import mentioned, seek
from ddtree_doctor.launch.source import Source
from ddtree_doctor.launch.words import ArrayWord, Field, Piece, Word

__all__ = ["Shell"]

MAX_CALLS = 20
MAX_SHELLS = 8

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[([^\]]*)\])?(\+?)=")


class Shell(Flow):
    """One shell. `found` receives every launch, in order."""

    def __init__(self, scope: Scope, found: list[Found], depth: int = 0) -> None:
        super().__init__(scope)
        self.found = found
        self.depth = depth
        self.calls = 0
        self.called: set[str] = set()

    @property
    def budget(self) -> Budget:
        """What following the text may still cost."""
        return self.scope.budget

    def run(self, source: Source) -> None:
        """Follow a whole text, then every function that nothing in it calls.

        Raises UsageError for a quote that is never closed and for a text that runs without end.
        """
        self.follow(parse(tokenize(source)))
        for name in [name for name in self.scope.functions if name not in self.called]:
            self.branch(self.scope.functions[name])

    def simple(self, node: Simple) -> str:
        """Follow a simple command: an assignment, a command of the shell's own, a function, or a program's start."""
        self.budget.step(len(node.words))
        remarks: list[Remark] = []
        expander = Expander(self.scope, remarks)
        count = next((index for index, word in enumerate(node.words) if not _assigns(word)), len(node.words))
        if count == len(node.words):
            for word in node.words:
                builtins.assign(self.scope, expander, word)
            return ""
        name = node.words[count]
        if isinstance(name, Word) and name.literal in builtins.DECLARES:
            builtins.declare(self.scope, expander, name.literal or "", node.words[count + 1 :])
            return ""
        fields = expander.fields(word for word in node.words[count:] if isinstance(word, Word))
        environment = self._environment(node.words[:count], expander)
        if not fields:
            self.scope.variables.update(environment)
            return ""
        return self._run(node, fields, environment, remarks, expander)

    def _environment(self, words: Sequence[Word | ArrayWord], expander: Expander) -> dict[str, Scalar]:
        """What the command alone receives, from the assignments before it."""
        before = {name: self.scope.variables.get(name) for word in words if (name := _assigned(word))}
        for word in words:
            builtins.assign(self.scope, expander, word)
        given = {name: value for name in before if isinstance(value := self.scope.variables.get(name), tuple)}
        for name, value in before.items():
            self.scope.restore(name, value)
        return given

    def _run(
        self,
        node: Simple,
        fields: list[Field],
        environment: Mapping[str, Scalar],
        remarks: list[Remark],
        expander: Expander,
    ) -> str:
        name = fields[0].text
        if name in builtins.ENDS:
            return builtins.ENDS[name]
        if name in self.scope.functions and self.calls < MAX_CALLS:
            return self._call(name, tuple(fields[1:]))
        if name == "eval":
            return self._eval(fields[1:])
        if name in builtins.CHANGES:
            builtins.CHANGES[name](self.scope, fields[1:])
            return ""
        self._start(node, fields, environment, remarks, expander)
        return "exit" if name == "exec" and len(fields) > 1 else ""

    def _start(
        self,
        node: Simple,
        fields: list[Field],
        environment: Mapping[str, Scalar],
        remarks: list[Remark],
        expander: Expander,
    ) -> None:
        options = node.rest and node.rest[0][1].like_options
        rest = self._rest(node, expander) if options or mentioned(fields) else ()
        if not any(mentioned(line) for line in (fields, *(line for _, line in rest))):
            return
        command = Command(
            fields=tuple(fields),
            environment={**self.scope.environment(), **environment},
            rest=rest,
            remarks=tuple(remarks),
            unexported=self.scope.unexported(),
            line=node.line,
        )
        self.start(command)

    def _rest(self, node: Simple, expander: Expander) -> tuple[tuple[Cut, tuple[Field, ...]], ...]:
        """The words of the lines below that were meant to belong to the command."""
        lines = ((cut, [word for word in line.words if isinstance(word, Word)]) for cut, line in node.rest)
        return tuple((cut, tuple(expander.fields(words))) for cut, words in lines)

    def start(self, command: Command) -> None:
        """Look into one command: a launch, or a text for another shell."""
        found = seek(command)
        if isinstance(found, Script):
            self._script(found)
        elif found:
            self.found.append(found)

    def _script(self, script: Script) -> None:
        """`bash -c`: a shell of its own, which receives the exported variables and nothing else."""
        source = self._source(script.text.pieces)
        self.nested(source, script.environment, script.arguments)

    def nested(
        self, source: Source, environment: Mapping[str, Scalar] | None = None, arguments: tuple[Field, ...] = ()
    ) -> None:
        """Follow a text that another shell reads."""
        if self.depth >= MAX_SHELLS:
            return
        scope = Scope(self.budget, self.scope.vault, positional=arguments)
        scope.variables.update(environment or {})
        scope.exported.update(environment or {})
        Shell(scope, self.found, self.depth + 1).run(source)

    def _eval(self, fields: Sequence[Field]) -> str:
        if self.depth >= MAX_SHELLS:
            return ""
        pieces = [piece for one in fields for piece in (*one.pieces, Piece(" ", one.line))]
        self.depth += 1
        ends = self.follow(parse(tokenize(self._source(pieces))))
        self.depth -= 1
        return ends

    def _source(self, pieces: Sequence[Piece]) -> Source:
        source = Source.of_pieces(pieces, self.budget.name)
        self.budget.produce(len(source.text))
        return source

    def _call(self, name: str, arguments: tuple[Field, ...]) -> str:
        self.called.add(name)
        outer, self.scope.positional = self.scope.positional, arguments
        self.calls += 1
        ends = self.node(self.scope.functions[name])
        self.calls -= 1
        self.scope.positional = outer
        return "exit" if ends == "exit" else ""


def _assigns(word: Word | ArrayWord) -> bool:
    return isinstance(word, ArrayWord) or bool(_ASSIGNMENT.match(word.begins))


def _assigned(word: Word | ArrayWord) -> str:
    if isinstance(word, ArrayWord):
        return word.name
    match = _ASSIGNMENT.match(word.begins)
    return match.group(1) if match else ""
