"""Launches in docker-compose and Kubernetes YAML, and in scripts that a YAML file carries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ddtree_doctor.errors import UsageError
from ddtree_doctor.launch import interpolation
from ddtree_doctor.launch.command import Command
from ddtree_doctor.launch.document import Malformed, documents, mapping, pieces, sequence, walk
from ddtree_doctor.launch.scope import Scalar
from ddtree_doctor.launch.shell import Shell
from ddtree_doctor.launch.source import Source
from ddtree_doctor.launch.splitting import split
from ddtree_doctor.launch.words import Field, Piece
from ddtree_doctor.launch.wrappers import MENTION

if TYPE_CHECKING:
    import yaml

__all__ = ["is_manifest", "read_manifest"]

_KEYS = re.compile(r"^(?:apiVersion|kind|services|containers|spec|jobs|resources)\s*:(?:\s|$)", re.MULTILINE)
_CONTAINER = ("entrypoint", "command", "args")
_SCRIPTS = ("run", "script", "setup", "cmd")


def is_manifest(text: str, file: str | None) -> bool:
    """Whether a launch file is YAML: by its name, or by a key at the margin that no shell script has."""
    if file is not None and file.lower().endswith((".yaml", ".yml")):
        return True
    return bool(_KEYS.search(text)) and not text.startswith("#!")


def read_manifest(text: str, shell: Shell, name: str) -> None:
    """Gather every container's launch into `shell.found`.

    Raises UsageError where the text is no YAML or a command in it has a quote that is never closed.
    """
    try:
        roots = documents(text)
    except Malformed as error:
        place = name if error.line is None else f"{name}:{error.line}"
        raise UsageError(f"{place}: {error}; render templates first and give the result") from error
    for root in roots:
        services = mapping(root).get("services")
        if services is None:
            _Manifest(shell, name).read(root)
        else:
            for service in mapping(services).values():
                _Compose(shell, name).container(mapping(service))


class _Manifest:
    """Kubernetes: `command` and `args`, `$(NAME)` from `env`."""

    def __init__(self, shell: Shell, name: str) -> None:
        self.shell = shell
        self.name = name

    def read(self, root: yaml.Node) -> None:
        for node in walk(root):
            members = mapping(node)
            if any(key in members for key in _CONTAINER):
                self.container(members)
            for key, value in members.items():
                if key in _SCRIPTS or key.endswith(".sh"):
                    self.script(value)

    def container(self, members: Mapping[str, yaml.Node]) -> None:
        environment = self.environment(members)
        fields = [one for key in _CONTAINER for one in self.words(members.get(key), environment)]
        if fields:
            self.shell.budget.step(len(fields))
            self.shell.start(Command(fields=tuple(fields), environment=environment, line=fields[0].line))

    def script(self, node: yaml.Node) -> None:
        text = pieces(node)
        if text and MENTION.search("".join(piece.text for piece in text)):
            self.shell.nested(Source.of_pieces(text, self.name))

    def words(self, node: yaml.Node | None, environment: Mapping[str, Scalar]) -> Iterator[Field]:
        items = sequence(node)
        if items is not None:
            for item in items:
                if text := pieces(item):
                    yield Field.of(self.interpolate(text, environment) or (text[0]._replace(text=""),))
        elif text := pieces(node):
            yield from split(self.interpolate(text, environment), self.name)

    def interpolate(self, text: tuple[Piece, ...], environment: Mapping[str, Scalar]) -> Scalar:
        done = interpolation.kubernetes(text, environment)
        self.shell.budget.produce(sum(len(piece.text) for piece in done))
        return done

    def environment(self, members: Mapping[str, yaml.Node]) -> dict[str, Scalar]:
        found: dict[str, Scalar] = {}
        for item in sequence(members.get("env")) or []:
            variable = mapping(item)
            name = "".join(piece.text for piece in pieces(variable.get("name")) or ())
            value = pieces(variable.get("value"))
            if value is not None:
                found[name] = self.hidden(name, self.interpolate(value, found))
            elif "valueFrom" in variable:
                line = variable["valueFrom"].start_mark.line + 1
                found[name] = (Piece(f"$({name})", line, why=f"`$({name})` comes from valueFrom"),)
        return found

    def hidden(self, name: str, value: Scalar) -> Scalar:
        """The value, redacted where its name is a secret's."""
        return self.shell.scope.guarded(name, value)


class _Compose(_Manifest):
    """docker-compose: `entrypoint` and `command`, `$NAME` from the shell that starts it."""

    def container(self, members: Mapping[str, yaml.Node]) -> None:
        super().container({key: value for key, value in members.items() if key != "args"})

    def interpolate(self, text: tuple[Piece, ...], environment: Mapping[str, Scalar]) -> Scalar:
        done = interpolation.compose(text)
        self.shell.budget.produce(sum(len(piece.text) for piece in done))
        return done

    def environment(self, members: Mapping[str, yaml.Node]) -> dict[str, Scalar]:
        node = members.get("environment")
        items = sequence(node)
        if items is None:
            pairs = [(name, text) for name, value in mapping(node).items() if (text := pieces(value))]
        else:
            pairs = [_pair(text) for item in items if (text := pieces(item))]
        return {name: self.hidden(name, self.interpolate(text, {})) for name, text in pairs if name}


def _pair(text: tuple[Piece, ...]) -> tuple[str, tuple[Piece, ...]]:
    """`NAME=value`; a name alone passes the host's variable on, which is not known."""
    name, equals, value = "".join(piece.text for piece in text).partition("=")
    return (name, (text[0]._replace(text=value),)) if equals else ("", ())
