"""The launch's flags as typed values, over the engine's own defaults."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ddtree_doctor.contract.values import unknown, unset
from ddtree_doctor.facts.model import Facts
from ddtree_doctor.knowledge import Value
from ddtree_doctor.launch.model import Flag
from ddtree_doctor.launch.typing import typed

__all__ = ["Given"]

T = TypeVar("T")

YES = frozenset({"1", "true", "yes", "on"})


@dataclass(frozen=True, slots=True)
class Given:
    """What a launch gives for the engine's fields.

    Each reader takes the field's names, newest first (releases rename fields), and the default to use where the engine
    states none. A flag that cannot be known before run time, or does not parse, gives an unknown Value.
    """

    facts: Facts

    def integer(self, *names: str, default: int | None = None, least: int = 1) -> Value[int]:
        """A whole number, not below `least`."""

        def convert(found: Any) -> int:
            number = _whole(found)
            if number < least:
                raise ValueError(f"it must be at least {least}")
            return number

        return self._read(names, convert, default)

    def fraction(self, *names: str) -> Value[float]:
        """A number above 0 and below 1."""
        return self._read(names, _fraction, None)

    def text(self, *names: str, default: str | None = None) -> Value[str]:
        """One word."""
        return self._read(names, _text, default)

    def switch(self, *names: str) -> Value[bool]:
        """A flag that is there or not; `--no-…` and `false` switch it off."""
        return self._read(names, _switch, False)

    def integers(self, *names: str) -> Value[tuple[int, ...]]:
        """A list of whole numbers."""
        return self._read(names, _integers, None)

    def mapping(self, *names: str) -> Value[Mapping[str, Any]]:
        """A JSON object."""
        return self._read(names, _mapping, None)

    def flag(self, *names: str) -> Flag | None:
        """The last flag for the first of `names` that is given.

        A flag that the engine does not know is found by its spelling, so that a launch can be judged without an engine.
        """
        for name in names:
            for flag in reversed(self.facts.launch.flags):
                if (flag.name or flag.option.lstrip("-").replace("-", "_")) == name:
                    return flag
        return None

    def _read(self, names: tuple[str, ...], convert: Callable[[Any], T], default: T | None) -> Value[T]:
        if flag := self.flag(*names):
            found = typed(flag, self.facts.engine.option(flag.name) if flag.name else None)
            return _converted(replace(found, name=names[0]), convert)
        unread = self.facts.launch.unknown
        if why := next((unread[name] for name in (*names, "config") if name in unread), ""):
            return unknown(names[0], why)
        return self._default(names, convert, default)

    def _default(self, names: tuple[str, ...], convert: Callable[[Any], T], default: T | None) -> Value[T]:
        for name in names:
            option = self.facts.engine.option(name)
            if option and option.default_known and option.default is not None:
                why = f"the engine's default of {name}"
                return _converted(Value(name=names[0], value=option.default, origin="default", why=why), convert)
        if default is None:
            return unset(names[0])
        return Value(name=names[0], value=default, origin="default", why="the default of every release read")


def _converted(found: Value[Any], convert: Callable[[Any], T]) -> Value[T]:
    """The same value in the type that is asked for: a fork may take a word where a release takes a number."""
    if not found.known or found.value is None:
        return found
    try:
        return replace(found, value=convert(found.value))
    except ValueError as error:
        return unknown(found.name, f"{found.why}: {error}")


def _whole(found: Any) -> int:
    if isinstance(found, int) and not isinstance(found, bool):
        return found
    word = _text(found)
    if not word.isascii() or len(word) > 20 or not word.lstrip("+-").isdigit():
        raise ValueError(f"{word[:40]!r} is no whole number")
    return int(word)


def _fraction(found: Any) -> float:
    number = float(found) if isinstance(found, int | float | str) else 0.0
    if not 0 < number < 1:
        raise ValueError("it must be above 0 and below 1")
    return number


def _text(found: Any) -> str:
    if not isinstance(found, str):
        raise ValueError("one word is needed")
    return found


def _switch(found: Any) -> bool:
    return found if isinstance(found, bool) else _text(found).strip().lower() in YES


def _integers(found: Any) -> tuple[int, ...]:
    return tuple(_whole(one) for one in (found if isinstance(found, list | tuple) else (found,)))


def _mapping(found: Any) -> Mapping[str, Any]:
    try:
        value = json.loads(found) if isinstance(found, str) else found
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no JSON object ({type(error).__name__})") from error
    if not isinstance(value, Mapping):
        raise ValueError(f"a JSON object is needed, not {type(value).__name__}")
    return value
