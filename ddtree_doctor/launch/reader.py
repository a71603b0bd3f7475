"""From a file, standard input or a command line to launches."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ddtree_doctor.errors import UsageError
from ddtree_doctor.launch.build import Builder
from ddtree_doctor.launch.command import Command, Found
from ddtree_doctor.launch.manifest import is_manifest, read_manifest
from ddtree_doctor.launch.model import Launch
from ddtree_doctor.launch.scope import Budget, Scope
from ddtree_doctor.launch.secrets import Vault
from ddtree_doctor.launch.shell import Shell
from ddtree_doctor.launch.source import MAX_BYTES, Source, decode, too_large
from ddtree_doctor.launch.systemd import is_unit, read_unit
from ddtree_doctor.launch.table import Table
from ddtree_doctor.launch.words import Field, Piece

if TYPE_CHECKING:
    from ddtree_doctor.facts.model import Option

__all__ = ["read", "read_command", "read_file"]

STANDARD_INPUT = "standard input"
COMMAND_LINE = "command line"

_EXPECTED = "python -m sglang.launch_server … or sglang serve MODEL …"


def read(data: bytes, options: Sequence[Option], file: str | None = None) -> tuple[Launch, ...]:
    """Every launch in a shell script, text, compose file, Kubernetes manifest or systemd unit, in order.

    Nothing is executed. `options` are the engine's; `file` is the name that locations carry and that config files are
    relative to (None: standard input, and the current folder). Raises UsageError where the data is empty, too large,
    binary, cannot be parsed, or holds no launch.
    """
    name = file or STANDARD_INPUT
    text = decode(data, name)
    shell = _shell(name)
    try:
        _gather(text, shell, name, file)
    except RecursionError as error:
        raise UsageError(f"{name}: commands are nested too deeply; give the launch command alone") from error
    if not shell.found:
        raise UsageError(f"{name}: no launch command in it; expected {_EXPECTED}")
    return _built(shell, options, file)


def _gather(text: str, shell: Shell, name: str, file: str | None) -> None:
    """Follow the text by the rules of its kind."""
    if is_unit(text):
        read_unit(text, shell, name)
    elif is_manifest(text, file):
        read_manifest(text, shell, name)
    else:
        shell.run(Source.of_text(text, name))


def read_command(argv: Sequence[str], options: Sequence[Option]) -> Launch:
    """The launch of a command given as words, its wrappers (env, docker run, bash -c, …) taken off.

    Raises UsageError where the words start no SGLang server, or more than one.
    """
    shell = _shell(COMMAND_LINE)
    fields = tuple(Field.of((Piece(word, None),)) for word in argv)
    assigned = next((index for index, one in enumerate(fields) if not _assigns(one.text)), len(fields))
    if assigned and assigned < len(fields):
        fields = (Field.plain("env"), *fields)
    if fields:
        shell.start(Command(fields=fields))
    if not shell.found:
        raise UsageError(f"{COMMAND_LINE}: no launch command in it; expected {_EXPECTED}")
    if len(shell.found) > 1:
        raise UsageError(f"{COMMAND_LINE}: {len(shell.found)} launches in one command; give one, or a file")
    return _built(shell, options, None)[0]


def read_file(path: str, options: Sequence[Option]) -> tuple[Launch, ...]:
    """Every launch in the file at `path`, `-` for standard input.

    Raises UsageError as `read` does, and where the file is missing, a folder or not readable.
    """
    if path == "-":
        return read(sys.stdin.buffer.read(MAX_BYTES + 1), options)
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISREG(status.st_mode) and status.st_size > MAX_BYTES:
                raise UsageError(too_large(path, status.st_size))
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a usable name"
        raise UsageError(f"{path}: cannot be read ({reason}); name a text file with the launch command") from error
    return read(data, options, path)


def _shell(name: str) -> Shell:
    found: list[Found] = []
    return Shell(Scope(Budget(name), Vault()), found)


def _built(shell: Shell, options: Sequence[Option], file: str | None) -> tuple[Launch, ...]:
    base = Path(file).parent if file else Path()
    builder = Builder(Table(options), shell.scope.vault, file, base)
    for found in shell.found:
        builder.learn(found)
    return tuple(builder.launch(found) for found in shell.found)


def _assigns(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()
