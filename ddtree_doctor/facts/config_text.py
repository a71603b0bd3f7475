"""A config.json from bytes, bounded: hostile or corrupt text becomes a reason in words, never an odd value later."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ddtree_doctor.facts.dimensions import SIZES, TEXT_HOLDERS, size_fault

__all__ = ["LARGEST_FILE", "BadConfig", "parse_config"]

LARGEST_FILE = 8 * 1024 * 1024
MOST_VALUES = 200_000
DEEPEST = 32
LARGEST_INT = 2**63


class BadConfig(ValueError):
    """A config.json that cannot be used; the text says why, on one line."""


def parse_config(data: bytes) -> Mapping[str, Any]:
    """The object that `data` holds, with JSON values only.

    A number that is not finite, or beyond 64 bits, becomes its text where nothing is computed from it (real configs
    hold `"time_step_limit": [0.0, Infinity]`); under a key of `dimensions.SIZES` it is a fault. Raises BadConfig.
    """
    values = _load(data)
    if not isinstance(values, dict):
        raise BadConfig(f"it holds {_kind(values)}, not an object")
    bounded: dict[str, Any] = _bounded(values, DEEPEST, [MOST_VALUES])
    _check_sizes(bounded)
    return bounded


def _load(data: bytes) -> Any:
    if len(data) > LARGEST_FILE:
        raise BadConfig(f"it is {len(data):,} bytes long; a config.json has at most {LARGEST_FILE:,}")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise BadConfig(f"it is not UTF-8 text (byte {fault.start})") from None
    if text.startswith("\ufeff"):
        raise BadConfig("it starts with a byte order mark, which the engine's JSON reader refuses")
    try:
        return json.loads(text, object_pairs_hook=_object, parse_int=_integer)
    except json.JSONDecodeError as fault:
        raise BadConfig(f"it is not JSON: {fault.msg} at line {fault.lineno}, column {fault.colno}") from None
    except RecursionError:
        raise BadConfig("it is nested too deeply") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise BadConfig(f"it holds the key {name[:60]!r} twice in one object")
        found[name] = value
    return found


def _integer(digits: str) -> int | str:
    """The number, or its text beyond 20 characters: Python refuses to convert thousands of digits."""
    return int(digits) if len(digits) <= 20 else digits[:60]


def _bounded(value: Any, depth: int, left: list[int]) -> Any:
    left[0] -= 1
    if left[0] < 0:
        raise BadConfig(f"it holds more than {MOST_VALUES:,} values")
    if not isinstance(value, dict | list):
        return _scalar(value)
    if not depth:
        raise BadConfig(f"it is nested more than {DEEPEST} levels deep")
    if isinstance(value, dict):
        return {_text(key): _bounded(item, depth - 1, left) for key, item in value.items()}
    return [_bounded(item, depth - 1, left) for item in value]


def _scalar(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= LARGEST_INT:
        return str(value)
    return _text(value) if isinstance(value, str) else value


def _text(text: str) -> str:
    """`text` without lone surrogates (JSON's "\\ud800"), which cannot be written as UTF-8 again."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _check_sizes(values: Mapping[str, Any]) -> None:
    holders = ((f"{name}.", values[name]) for name in TEXT_HOLDERS if isinstance(values.get(name), dict))
    for where, holder in (("", values), *holders):
        for key in SIZES:
            if fault := size_fault(holder.get(key)):
                raise BadConfig(f"{where}{key} is {fault}")


def _kind(value: Any) -> str:
    kinds = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return kinds.get(type(value), "a number")
