"""What a shell text consists of, as far as a launch can hang on it."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from ddtree_doctor.launch.words import ArrayWord, Word

__all__ = ["Alternatives", "AndOr", "Arithmetics", "Cut", "Function", "Group", "Loop", "Node", "Pipeline", "Simple"]


class Cut(NamedTuple):
    """Where and by which fault a command ends although its text goes on."""

    kind: str
    line: int | None


class Simple(NamedTuple):
    """A simple command. `rest` are the commands that follow it and were meant to be its own next lines."""

    words: tuple[Word | ArrayWord, ...]
    line: int | None
    rest: tuple[tuple[Cut, Simple], ...] = ()

    @property
    def like_options(self) -> bool:
        """Whether it begins with an option, as no command does."""
        first = self.words[0] if self.words else None
        return isinstance(first, Word) and first.like_option


class AndOr(NamedTuple):
    """Commands joined by `&&` and `||`: the operator before each, "" for the first."""

    items: tuple[tuple[str, Node], ...]


class Pipeline(NamedTuple):
    """Commands joined by pipes; each runs in a shell of its own."""

    items: tuple[Node, ...]


class Alternatives(NamedTuple):
    """`if` and `case`: at most one body runs. `complete` says that one always does."""

    conditions: tuple[Node, ...]
    bodies: tuple[tuple[Node, ...], ...]
    complete: bool
    line: int | None


class Loop(NamedTuple):
    """`for`, `while` and `until`; `name` is the loop variable, "" where there is none.

    `on_arguments` says that it goes over the arguments given to the script: without any its body does not run.
    """

    name: str
    body: tuple[Node, ...]
    line: int | None
    on_arguments: bool = False


class Group(NamedTuple):
    """`{ …; }` or `( … )`."""

    body: tuple[Node, ...]
    subshell: bool


class Function(NamedTuple):
    """A function's definition."""

    name: str
    body: Node


class Arithmetics(NamedTuple):
    """`((text))`."""

    text: str
    line: int | None


Node: TypeAlias = "Simple | AndOr | Pipeline | Alternatives | Loop | Group | Function | Arithmetics"
