"""A command as the shell starts it, and what is found in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ddtree_doctor.launch.nodes import Cut
from ddtree_doctor.launch.scope import Remark, Scalar
from ddtree_doctor.launch.words import Field

__all__ = ["Command", "Entry", "Found", "Script"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A simple command after expansion.

    `rest` are the lines after it that were meant to belong to it; `unexported` names variables that the file sets and
    the command does not receive.
    """

    fields: tuple[Field, ...]
    environment: Mapping[str, Scalar] = field(default_factory=dict)
    rest: tuple[tuple[Cut, tuple[Field, ...]], ...] = ()
    remarks: tuple[Remark, ...] = ()
    unexported: tuple[str, ...] = ()
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """SGLang's own command line inside a command, its wrappers taken off.

    `name` is `sglang.launch_server` or `sglang serve`; `words` are the words up to the arguments.
    """

    name: str
    words: tuple[Field, ...]
    arguments: tuple[Field, ...]
    environment: Mapping[str, Scalar]


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A text that a command hands to another shell: `bash -c TEXT ARGUMENTS`."""

    text: Field
    arguments: tuple[Field, ...] = ()
    environment: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One launch: what the shell passes (None where it does not reach SGLang) and what was probably meant.

    `lost` are the words that each of the `cuts` kept from the command.
    """

    passed: Entry | None
    meant: Entry | None = None
    cuts: tuple[Cut, ...] = ()
    lost: tuple[tuple[Field, ...], ...] = ()
    remarks: tuple[Remark, ...] = ()
    unexported: tuple[str, ...] = ()
    line: int | None = None
