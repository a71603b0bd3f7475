"""The launch's flags as typed values, over the engine's own defaults."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ddtree_doctor.contract.values import unknown, unset
from ddtree_doctor.facts.model import Facts
from ddtree_doctor.knowledge import Value
from ddtree_doctor.launch.model import Flag

__all__ = ["Given"]

T = TypeVar("T")

YES = frozenset({"", "1", "true", "yes", "on"})


@dataclass(frozen=True, slots=True)
class Given:
    """What a launch gives for the engine's fields.

    Each reader takes the field's names, newest first (releases rename fields), and the default to use where the engine
    states none. A flag that cannot be known before run time, or does not parse, gives an unknown Value.
    """

    facts: Facts

    def integer(self, *names: str, default: int | None = None, least: int = 1) -> Value[int]:
        """A whole number, not below `least`."""

        def parse(flag: Flag) -> int:
            number = _whole(_text(flag))
            if number < least:
                raise ValueError(f"it must be at least {least}")
            return number

        return self._read(names, int, parse, default)

    def text(self, *names: str, default: str | None = None) -> Value[str]:
        """One word."""
        return self._read(names, str, _text, default)

    def switch(self, *names: str) -> Value[bool]:
        """A flag that is there or not; `--no-…` and `false` switch it off."""
        return self._read(names, bool, _switch, False)

    def integers(self, *names: str) -> Value[tuple[int, ...]]:
        """A list of whole numbers."""
        return self._read(names, tuple, _integers, None)

    def mapping(self, *names: str) -> Value[Mapping[str, Any]]:
        """A JSON object."""
        return self._read(names, Mapping, _mapping, None)

    def flag(self, *names: str) -> Flag | None:
        """The last flag for the first of `names` that is given.

        A flag that the engine does not know is found by its spelling, so that a launch can be judged without an engine.
        """
        for name in names:
            for flag in reversed(self.facts.launch.flags):
                if (flag.name or flag.option.lstrip("-").replace("-", "_")) == name:
                    return flag
        return None

    def _read(self, names: tuple[str, ...], kind: type, parse: Callable[[Flag], T], default: T | None) -> Value[T]:
        flag = self.flag(*names)
        if flag is not None and flag.unknown:
            return unknown(names[0], f"{flag.option}: {flag.unknown}")
        if flag is not None:
            return self._parsed(names[0], flag, parse)
        unread = self.facts.launch.unknown
        if why := next((unread[name] for name in names if name in unread), ""):
            return unknown(names[0], why)
        return self._default(names, kind, default)

    def _parsed(self, name: str, flag: Flag, parse: Callable[[Flag], T]) -> Value[T]:
        try:
            value = parse(flag)
        except ValueError as error:
            return unknown(name, f"{flag.option} {' '.join(flag.values)}: {error}")
        return Value(name=name, value=value, origin="given", why=f"{flag.option} {' '.join(flag.values)}".rstrip())

    def _default(self, names: tuple[str, ...], kind: type, default: T | None) -> Value[T]:
        for name in names:
            option = self.facts.engine.option(name)
            if option and option.default_known and option.default is not None:
                found = tuple(option.default) if isinstance(option.default, list) else option.default
                return _default_of(names[0], name, found, kind)
        if default is None:
            return unset(names[0])
        return Value(name=names[0], value=default, origin="default", why="the default of every release read")


def _default_of(name: str, field: str, value: Any, kind: type) -> Value[Any]:
    # A fork may take a word such as "auto" where a release takes a number.
    right = isinstance(value, kind)
    why = f"the engine's default of {field}" + ("" if right else f" is {value!r:.40}, not of type {kind.__name__}")
    return Value(name=name, value=value, origin="default", why=why) if right else unknown(name, why)


def _whole(word: str) -> int:
    if not word.isascii() or len(word) > 20 or not word.lstrip("+-").isdigit():
        raise ValueError(f"{word[:40]!r} is no whole number")
    return int(word)


def _text(flag: Flag) -> str:
    if not flag.values:
        raise ValueError("a value is missing")
    return flag.values[-1]


def _switch(flag: Flag) -> bool:
    on = (flag.value or "").strip().lower() in YES
    return on != flag.option.startswith("--no-")


def _integers(flag: Flag) -> tuple[int, ...]:
    if not flag.values:
        raise ValueError("a value is missing")
    return tuple(_whole(word) for word in flag.values)


def _mapping(flag: Flag) -> Mapping[str, Any]:
    try:
        found = json.loads(_text(flag))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no JSON object ({type(error).__name__})") from error
    if not isinstance(found, dict):
        raise ValueError(f"a JSON object is needed, not {type(found).__name__}")
    return found
