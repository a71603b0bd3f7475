"""Launches in systemd units: `ExecStart=`, `Environment=`, continued lines.

The rules are those of systemd.syntax(7) and systemd.service(5): a line that ends in a backslash goes on in the next
line that is no comment, the backslash becoming a blank; a blank after the backslash ends the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ddtree_doctor.launch import interpolation
from ddtree_doctor.launch.command import Command
from ddtree_doctor.launch.docker import split_assignment
from ddtree_doctor.launch.nodes import Cut
from ddtree_doctor.launch.scope import Scalar
from ddtree_doctor.launch.shell import Shell
from ddtree_doctor.launch.splitting import split
from ddtree_doctor.launch.words import Field, Piece

__all__ = ["is_unit", "read_unit"]

_SECTION = re.compile(r"^\[(?:Unit|Service|Install|Container)\]\s*$", re.MULTILINE)
_SETTING = re.compile(r"\s*([A-Za-z]+)\s*=\s*")
_EXEC = ("ExecStartPre", "ExecStart", "Exec")
_PREFIXES = "@-:+!|"
_VARIABLE = re.compile(r"\$([A-Za-z_]\w*)")


@dataclass(slots=True)
class _Setting:
    """One setting: its pieces, and the lines below that a blank after a backslash cut off."""

    key: str
    pieces: list[Piece]
    cut: Cut | None
    rest: list[Piece]


def is_unit(text: str) -> bool:
    """Whether a launch file is a systemd unit."""
    return bool(_SECTION.search(text))


def read_unit(text: str, shell: Shell, name: str) -> None:
    """Gather every command's launch into `shell.found`. Raises UsageError for a quote that is never closed."""
    settings = list(_settings(text))
    environment: dict[str, Scalar] = {}
    for setting in settings:
        if setting.key == "Environment":
            _environment(setting, environment, shell, name)
    for setting in settings:
        if setting.key in _EXEC:
            _start(setting, environment, shell, name)


def _environment(setting: _Setting, environment: dict[str, Scalar], shell: Shell, name: str) -> None:
    for one in split(interpolation.systemd(setting.pieces, {}), name, c_escapes=True):
        if assignment := split_assignment(one):
            variable, value = assignment
            environment[variable] = shell.scope.guarded(variable, value)


def _start(setting: _Setting, environment: Mapping[str, Scalar], shell: Shell, name: str) -> None:
    fields = _words(setting.pieces, environment, name)
    rest: tuple[tuple[Cut, tuple[Field, ...]], ...] = ()
    if setting.cut:
        rest = ((setting.cut, tuple(_words(setting.rest, environment, name))),)
    for command in _separated(fields):
        first = command[0].with_text(command[0].text.lstrip(_PREFIXES))
        shell.start(Command(fields=(first, *command[1:]), environment=environment, rest=rest, line=first.line))


def _words(pieces: list[Piece], environment: Mapping[str, Scalar], name: str) -> list[Field]:
    """The words: `${NAME}` inside a word is replaced as it is, `$NAME` alone may become several words."""
    fields: list[Field] = []
    for one in split(pieces, name, c_escapes=True):
        match = _VARIABLE.fullmatch(one.text)
        if not match:
            fields.append(Field.of(interpolation.systemd(one.pieces, environment) or one.pieces))
        elif match.group(1) in environment:
            fields += split(environment[match.group(1)], name)
        else:
            fields.append(Field.plain(one.text, one.line, f"`{one.text}` is not set in this unit"))
    return fields


def _separated(fields: list[Field]) -> Iterator[list[Field]]:
    """The commands between words that are a semicolon."""
    current: list[Field] = []
    for one in [*fields, Field.plain(";")]:
        if one.text != ";" or not one.bare:
            current.append(one)
        elif current:
            yield current
            current = []


def _settings(text: str) -> Iterator[_Setting]:
    setting: _Setting | None = None
    continued = False
    for number, line in enumerate(text.split("\n"), 1):
        comment = line.lstrip().startswith(("#", ";"))
        if continued and comment:
            continue
        match = None if continued or comment else _SETTING.match(line)
        if match:
            if setting:
                yield setting
            setting = _Setting(match.group(1), [], None, [])
            line = line[match.end() :]
        elif not continued and (setting is None or setting.cut is None or not line.strip() or comment):
            continue
        continued = bool(setting) and _add(setting, line, number)
    if setting:
        yield setting


def _add(setting: _Setting | None, line: str, number: int) -> bool:
    """Add one line's text; returns whether the setting goes on in the next."""
    if setting is None:
        return False
    text = line.rstrip("\r")
    goes_on = text.endswith("\\")
    trailing = not goes_on and text.rstrip().endswith("\\")
    body = text.rstrip()[:-1] if goes_on or trailing else text
    (setting.rest if setting.cut else setting.pieces).append(Piece(body + " ", number))
    if trailing and not setting.cut:
        setting.cut = Cut("space-after-backslash", number)
    return goes_on
