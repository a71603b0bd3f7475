"""Variables that compose files and Kubernetes replace in strings before anything runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from ddtree_doctor.launch.scope import Scalar
from ddtree_doctor.launch.words import Piece

__all__ = ["compose", "kubernetes", "systemd"]

_COMPOSE = re.compile(r"\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:(:?[-?+])([^{}$]*))?\}|\{[^}]*\})")
_KUBERNETES = re.compile(r"\$(?:(\$)|\(([A-Za-z_][\w.-]*)\))")
_SYSTEMD = re.compile(r"\$(?:(\$)|\{([A-Za-z_]\w*)\})|%(?:(%)|([A-Za-z]))")

Replace: TypeAlias = Callable[[Piece, "re.Match[str]"], Sequence[Piece]]
"""What stands in place of one variable."""


def compose(pieces: Sequence[Piece]) -> Scalar:
    """`$NAME`, `${NAME:-default}` of a compose file: set in the shell that starts it, so only defaults are known."""
    return tuple(part for piece in pieces for part in _replaced(piece, _COMPOSE, _compose_part))


def kubernetes(pieces: Sequence[Piece], environment: Mapping[str, Scalar]) -> Scalar:
    """`$(NAME)` of a container's command and args, from its `env`."""

    def part(piece: Piece, match: re.Match[str]) -> Sequence[Piece]:
        dollar, name = match.groups()
        if dollar:
            return (piece._replace(text="$"),)
        if name in environment:
            return _in_place(environment[name], piece)
        why = f"`$({name})` is not set in this container's env"
        return (piece._replace(text=match.group(), why=why),)

    return tuple(one for piece in pieces for one in _replaced(piece, _KUBERNETES, part))


def systemd(pieces: Sequence[Piece], environment: Mapping[str, Scalar]) -> Scalar:
    """`${NAME}` and `%x` of a unit's command line."""

    def part(piece: Piece, match: re.Match[str]) -> Sequence[Piece]:
        dollar, name, percent, specifier = match.groups()
        if dollar or percent:
            return (piece._replace(text=dollar or percent),)
        if name in environment:
            return _in_place(environment[name], piece)
        shown = f"${{{name}}}" if name else f"%{specifier}"
        why = f"`{shown}` is not set in this unit" if name else f"`{shown}` is filled in by systemd"
        return (piece._replace(text=shown, why=why),)

    return tuple(one for piece in pieces for one in _replaced(piece, _SYSTEMD, part))


def _compose_part(piece: Piece, match: re.Match[str]) -> Sequence[Piece]:
    dollar, bare, braced, operator, argument = match.groups()
    if dollar:
        return (piece._replace(text="$"),)
    name = bare or braced
    if operator and operator.endswith("-"):
        assumed = f"${name} is not set in this file; its default is taken"
        return (piece._replace(text=argument, assumed=assumed),) if argument else ()
    if operator and operator.endswith("+"):
        return ()
    shown = f"${name}" if name else "${…}"
    return (piece._replace(text=shown, why=f"`{shown}` is not set in this file"),)


def _in_place(value: Scalar, piece: Piece) -> Sequence[Piece]:
    return [one._replace(line=piece.line, quoted=True) for one in value]


def _replaced(piece: Piece, pattern: re.Pattern[str], part: Replace) -> Iterator[Piece]:
    """The piece cut at each variable, the variable replaced."""
    end = 0
    for match in pattern.finditer(piece.text):
        if match.start() > end:
            yield piece._replace(text=piece.text[end : match.start()])
        yield from part(piece, match)
        end = match.end()
    if end < len(piece.text):
        yield piece._replace(text=piece.text[end:])
