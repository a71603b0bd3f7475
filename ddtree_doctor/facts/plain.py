"""Facts in the one form that JSON keeps: what goes out and comes back is equal to what it was."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import Field, fields, is_dataclass, replace
from typing import Any, TypeVar

__all__ = ["DEEPEST", "plain", "tuples"]

T = TypeVar("T")

DEEPEST = 64


def plain(value: T, text: Callable[[str], str]) -> T:
    """`value`, a frozen dataclass of facts, with every text passed through `text` and open values as JSON has them.

    A typed field keeps its tuples. In a field of anything lists stand for tuples, keys are text, and a number that is
    not finite is its name; an engine's traits alone are tuples there too.
    """
    changes = {
        field.name: _field(field.name, str(field.type), getattr(value, field.name), text) for field in _of(value)
    }
    return replace(value, **changes)  # type: ignore[type-var]


def tuples(value: Any) -> Any:
    """`value` with every list in it as a tuple."""
    if isinstance(value, list | tuple):
        return tuple(tuples(item) for item in value)
    return {key: tuples(item) for key, item in value.items()} if isinstance(value, Mapping) else value


def _of(value: Any) -> tuple[Field[Any], ...]:
    return fields(value)


def _field(name: str, annotation: str, value: Any, text: Callable[[str], str]) -> Any:
    if annotation == "float":
        return float(value)
    if "Any" not in annotation:
        return _typed(value, text)
    return tuples(_open(value, text)) if name == "traits" else _open(value, text)


def _typed(value: Any, text: Callable[[str], str]) -> Any:
    if is_dataclass(value):
        return plain(value, text)
    if isinstance(value, tuple):
        return tuple(_typed(item, text) for item in value)
    if isinstance(value, Mapping):
        return {text(key): _typed(item, text) for key, item in value.items()}
    return text(value) if isinstance(value, str) else value


def _open(value: Any, text: Callable[[str], str], depth: int = DEEPEST) -> Any:
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth and isinstance(value, Mapping):
        return {text(str(key)): _open(item, text, depth - 1) for key, item in value.items()}
    if depth and isinstance(value, list | tuple | set | frozenset):
        items = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return [_open(item, text, depth - 1) for item in items]
    return text(str(value))
