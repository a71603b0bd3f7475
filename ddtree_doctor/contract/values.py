"""Short ways to make a Value, and to let one that is missing stay unknown with its reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ddtree_doctor.knowledge import NotKnown, Value

__all__ = ["derived", "forced", "settle", "unknown", "unset"]

T = TypeVar("T")


def unknown(name: str, why: str) -> Value[T]:
    """A value that cannot be known, with the reason."""
    return Value(name=name, why=why)


def unset(name: str, why: str = "not given, and the engine has no default") -> Value[T]:
    """A value known to be None."""
    return Value(name=name, origin="default", why=why)


def forced(name: str, value: T, why: str) -> Value[T]:
    """A value that the algorithm fixes whatever the launch says."""
    return Value(name=name, value=value, origin="forced", why=why)


def derived(name: str, value: T, why: str) -> Value[T]:
    """A value that follows from others."""
    return Value(name=name, value=value, origin="derived", why=why)


def settle(name: str, compute: Callable[[], Value[T]]) -> Value[T]:
    """What `compute` gives; unknown, with what is missing as the reason, where it raises NotKnown."""
    try:
        return compute()
    except NotKnown as missing:
        return unknown(name, missing.why if missing.subject == name else str(missing))
