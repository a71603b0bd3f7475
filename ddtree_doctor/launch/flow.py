"""Follows the branches, loops and functions of a shell text without running anything.

Where the text branches, each body is followed from the same state; what the bodies leave different is not known
afterwards.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

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
from ddtree_doctor.launch.scope import Scope
from ddtree_doctor.launch.words import Piece, Word

__all__ = ["Flow"]

_CHANGED = re.compile(r"([A-Za-z_]\w*)\s*(?:\+\+|--|[-+*/%]?=(?!=))|(?:\+\+|--)\s*([A-Za-z_]\w*)")
_TESTS = frozenset({"[", "[[", "test"})


class Flow(ABC):
    """A walk through nodes with the scope at the present place."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    @abstractmethod
    def simple(self, node: Simple) -> str:
        """Follow a simple command; returns what it ends."""

    def follow(self, nodes: Sequence[Node]) -> str:
        """Follow the nodes in order; returns what ends them early: `break`, `return`, `exit` or ""."""
        for node in nodes:
            if ends := self.node(node):
                return ends
        return ""

    def node(self, node: Node) -> str:
        """Follow one node; returns what it ends."""
        return self.simple(node) if isinstance(node, Simple) else _FOLLOW[type(node)](self, node)

    def branch(self, *nodes: Node) -> tuple[Scope, str]:
        """Follow the nodes in a copy of the scope; returns the copy and what ended it."""
        outer = self.scope
        self.scope = outer.copy()
        try:
            ends = self.follow(nodes)
            return self.scope, ends
        finally:
            self.scope = outer

    def _alternatives(self, node: Alternatives) -> str:
        if ends := self.follow(node.conditions):
            return ends
        branches = [self.branch(*body) for body in node.bodies]
        left = [scope for scope, ends in branches if not ends]
        if not left and node.complete:
            return branches[0][1]
        if not node.complete:
            left.insert(0, self.scope)
        self.scope.merge(left, f"it depends on the condition{_at(node.line)}")
        return ""

    def _loop(self, node: Loop) -> str:
        outer = self.scope
        self.scope = outer.copy()
        if node.name.isidentifier():
            why = f"`${node.name}` is the variable of the loop{_at(node.line)}"
            self.scope.set(node.name, (Piece(f"${node.name}", node.line, why=why),))
        ends = self.follow(node.body)
        inner, self.scope = self.scope, outer
        without_arguments = node.on_arguments and outer.positional is None
        if (not ends or ends == "break") and not without_arguments:
            self.scope.merge([outer, inner], f"it depends on the loop{_at(node.line)}")
        return ""

    def _and_or(self, node: AndOr) -> str:
        tested = False
        for operator, item in node.items:
            if not operator or (operator == "&&" and not tested):
                ends = self.node(item)
                if ends:
                    return ends
            else:
                self._perhaps(item)
            tested = tested or operator == "||" or _is_test(item)
        return ""

    def _perhaps(self, item: Node) -> None:
        scope, ends = self.branch(item)
        if not ends:
            self.scope.merge([self.scope, scope], f"it depends on a condition{_at(_line(item))}")

    def _pipeline(self, node: Pipeline) -> str:
        for item in node.items:
            self.branch(item)
        return ""

    def _group(self, node: Group) -> str:
        if node.subshell:
            self.branch(*node.body)
            return ""
        return self.follow(node.body)

    def _function(self, node: Function) -> str:
        self.scope.functions[node.name] = node.body
        return ""

    def _arithmetics(self, node: Arithmetics) -> str:
        for match in _CHANGED.finditer(node.text):
            name = match.group(1) or match.group(2)
            self.scope.set(name, (Piece(f"${name}", node.line, why=f"`${name}` is computed{_at(node.line)}"),))
        return ""


_FOLLOW: dict[type, Callable[..., str]] = {
    AndOr: Flow._and_or,
    Pipeline: Flow._pipeline,
    Alternatives: Flow._alternatives,
    Loop: Flow._loop,
    Group: Flow._group,
    Function: Flow._function,
    Arithmetics: Flow._arithmetics,
}


def _is_test(node: Node) -> bool:
    """Whether a command only asks something."""
    if isinstance(node, Arithmetics):
        return True
    first = node.words[0] if isinstance(node, Simple) and node.words else None
    return isinstance(first, Word) and first.literal in _TESTS


def _line(node: Node) -> int | None:
    return node.line if isinstance(node, (Simple, Alternatives, Loop, Arithmetics)) else None


def _at(line: int | None) -> str:
    return "" if line is None else f" at line {line}"
