"""What a shell knows at one point of a text: variables, exports, functions and positional parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ddtree_doctor.errors import UsageError
from ddtree_doctor.launch.nodes import Node
from ddtree_doctor.launch.secrets import REDACTED, Vault, is_secret_name
from ddtree_doctor.launch.words import Field, Piece

__all__ = ["Array", "Budget", "Remark", "Scalar", "Scope", "Variable"]

MAX_WORDS = 500_000
MAX_CHARACTERS = 64 * 1024 * 1024
MAX_VALUE = 1024 * 1024

_FOR_PROGRAMS = re.compile(r"(?:SGLANG|SGL|NCCL|CUDA|TORCH|PYTORCH|TRITON|FLASHINFER|NVSHMEM|HF|OMP|GLOO)_[A-Z]")

Scalar: TypeAlias = "tuple[Piece, ...]"
"""A variable's text with where each stretch of it came from."""


@dataclass(frozen=True, slots=True)
class Array:
    """An indexed array's elements."""

    fields: tuple[Field, ...]


Variable: TypeAlias = "Scalar | Array"


@dataclass(frozen=True, slots=True)
class Remark:
    """Something to say about a launch: becomes a Note with the file's name."""

    kind: str
    text: str
    line: int | None


@dataclass(slots=True)
class Budget:
    """What reading one launch file may cost, so that a hostile one ends with a message."""

    name: str
    words: int = MAX_WORDS
    characters: int = MAX_CHARACTERS

    def step(self, words: int) -> None:
        """One more command of so many words. Raises UsageError where the text runs more than anyone writes."""
        self.words -= words + 1
        if self.words < 0:
            raise UsageError(f"{self.name}: it runs more than {MAX_WORDS} words; give the launch command alone")

    def produce(self, size: int) -> None:
        """`size` more characters of expansion. Raises UsageError above the limit."""
        self.characters -= size
        if self.characters < 0:
            raise UsageError(
                f"{self.name}: its variables expand to more than {MAX_CHARACTERS} characters; give the launch "
                "command alone"
            )


@dataclass(slots=True)
class Scope:
    """One shell. `positional` is None where the script's arguments are not known; `used` are variables it expanded."""

    budget: Budget
    vault: Vault
    variables: dict[str, Variable] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)
    functions: dict[str, Node] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    positional: tuple[Field, ...] | None = None
    export_all: bool = False

    def copy(self) -> Scope:
        """A shell that starts with what this one knows."""
        return Scope(
            self.budget,
            self.vault,
            dict(self.variables),
            set(self.exported),
            self.functions,
            self.used,
            self.positional,
            self.export_all,
        )

    def set(self, name: str, value: Variable) -> None:
        """Give a variable its value, redacted where its name says that it is secret."""
        value = self.guarded(name, value) if isinstance(value, tuple) else self._guarded_array(name, value)
        if _size(value) > MAX_VALUE:
            value = (Piece(f"${name}", None, why=f"`${name}` has more than {MAX_VALUE} characters"),)
        self.variables[name] = value
        if self.export_all:
            self.exported.add(name)

    def append(self, name: str, value: Variable) -> None:
        """`NAME+=value`."""
        old = self.variables.get(name)
        if isinstance(old, Array) or isinstance(value, Array):
            self.set(name, Array(as_fields(old) + as_fields(value)))
        else:
            self.set(name, (old or ()) + value)

    def restore(self, name: str, value: Variable | None) -> None:
        """Undo an assignment that was one command's alone."""
        if value is None:
            self.variables.pop(name, None)
        else:
            self.variables[name] = value

    def unset(self, name: str) -> None:
        """Forget a variable."""
        self.variables.pop(name, None)
        self.exported.discard(name)

    def text(self, name: str) -> str | None:
        """A variable's text where it is wholly known."""
        value = self.variables.get(name)
        if not isinstance(value, tuple) or any(piece.why for piece in value):
            return None
        return "".join(piece.text for piece in value)

    def environment(self) -> dict[str, Scalar]:
        """The exported variables: what a command started here receives."""
        return {name: value for name in self.exported if isinstance(value := self.variables.get(name), tuple)}

    def unexported(self) -> tuple[str, ...]:
        """Variables that programs read, that this shell keeps to itself and does nothing with."""
        kept = self.variables.keys() - self.exported - self.used
        return tuple(name for name in sorted(kept) if _FOR_PROGRAMS.match(name))

    def merge(self, branches: Iterable[Scope], why: str) -> None:
        """Take over what the branches that may have run leave behind; where they differ it is not known (`why`)."""
        scopes = list(branches)
        if not scopes:
            return
        names = {name for scope in scopes for name in scope.variables}
        for name in names:
            values = [scope.variables.get(name) for scope in scopes]
            if any(value != values[0] for value in values[1:]):
                self.variables[name] = _either(values, why)
            elif values[0] is not None:
                self.variables[name] = values[0]
        self.exported = set().union(*(scope.exported for scope in scopes))
        self.export_all = scopes[0].export_all

    def guarded(self, name: str, value: Scalar) -> Scalar:
        """The value, redacted where the variable's name says that it is secret."""
        if not is_secret_name(name) or not value:
            return value
        if any(piece.why for piece in value):
            return tuple(piece if piece.why else piece._replace(text=REDACTED) for piece in value)
        text = "".join(piece.text for piece in value)
        self.vault.keep(text)
        return (value[0]._replace(text=REDACTED if text else ""),)

    def _guarded_array(self, name: str, array: Array) -> Array:
        return Array(tuple(Field.of(self.guarded(name, one.pieces)) for one in array.fields))


def as_fields(value: Variable | None) -> tuple[Field, ...]:
    """A variable as an array."""
    if value is None:
        return ()
    return value.fields if isinstance(value, Array) else (Field.of(value),)


def _size(value: Variable) -> int:
    if isinstance(value, Array):
        return sum(len(one.text) + 1 for one in value.fields)
    return sum(len(piece.text) + 1 for piece in value)


def _either(values: list[Variable | None], why: str) -> Variable:
    """What all values begin with is known; what follows in any of them is not."""
    scalars = [value or () for value in values if not isinstance(value, Array)]
    if len(scalars) == len(values):
        return _either_text(scalars, why)
    return _either_array([as_fields(value) for value in values], why)


def _either_array(arrays: list[tuple[Field, ...]], why: str) -> Array:
    shared = _shared(arrays)
    rests = [_doubtful(one, why) for array in arrays for one in array[shared:]]
    return Array((*arrays[0][:shared], *rests))


def _either_text(scalars: list[Scalar], why: str) -> Scalar:
    """Where the texts hold options, all of them; else the first that says anything."""
    shared = _shared(scalars)
    rests = [scalar[shared:] for scalar in scalars if scalar[shared:]]
    if any(piece.text.lstrip().startswith("-") for rest in rests for piece in rest):
        chosen = [piece for rest in rests for piece in (*rest, Piece(" ", None))]
    else:
        chosen = list(rests[0]) if rests else []
    return (*scalars[0][:shared], *(piece._replace(why=piece.why or why) for piece in chosen))


def _shared(values: Sequence[Sequence[object]]) -> int:
    """How many elements all values begin with."""
    count = 0
    for column in zip(*values, strict=False):
        if any(one != column[0] for one in column[1:]):
            break
        count += 1
    return count


def _doubtful(one: Field, why: str) -> Field:
    return Field.of(tuple(piece._replace(why=piece.why or why) for piece in one.pieces))
