"""Every place inside SGLang that the doctor reaches into, by name, and whether it is still there.

A reach has one or more places, `module:attribute.path`, newest release first: the first that is there is used, never a
version number. Where none is there the seam has moved, and whoever needed it says so by name instead of failing inside.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

from ddtree_doctor.engine.reaches import FIELDS, OLDER, REACHES, SERVING, WHOLE, Reach
from ddtree_doctor.facts.model import Seam
from ddtree_doctor.probe.child import Failed

__all__ = [
    "FIELDS",
    "OLDER",
    "REACHES",
    "MovedSeam",
    "Reach",
    "assign",
    "bound",
    "call",
    "field",
    "find",
    "fitted",
    "held_by",
    "older",
    "present",
    "probe",
    "replace",
]


class MovedSeam(Failed):
    """A seam is not where any known release has it. Its text names the seam and the places that were tried."""

    def __init__(self, name: str, state: str, tried: str) -> None:
        super().__init__(f"{state} seam: {name} ({tried})")
        self.name = name


_MISSING = object()


def probe(name: str) -> Seam:
    """Whether the reach `name` is `intact`, `moved` (its module is there, it is not) or `absent` (no such module)."""
    places, state = {**REACHES, **OLDER, **SERVING, **WHOLE}[name].places, "absent"
    for place in places:
        value = _at(place)
        if value is not _MISSING and value is not None:
            return Seam(name=name, state="intact", detail=place)
        state = "moved" if value is _MISSING else state
    return Seam(name=name, state=state, detail=" or ".join(places))


def present(name: str) -> bool:
    """Whether the reach `name` is where a known release has it."""
    return probe(name).state == "intact"


def older() -> bool:
    """Whether SGLang does not publish its ranks yet, as in 0.5.17: OLDER has what it has instead."""
    return not present("spawn ranks") and present("parallel state")


def find(name: str) -> Any:
    """What the reach `name` leads to. Raises MovedSeam if no known place has it."""
    seam = probe(name)
    if seam.state != "intact":
        raise MovedSeam(name, seam.state, seam.detail)
    return _at(seam.detail)


def call(name: str, given: Mapping[str, Any]) -> Any:
    """Call the function `name` with those of `given` that this release asks for, by name.

    Raises MovedSeam if it needs another one.
    """
    return fitted(name, find(name), given)


def fitted(name: str, function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """As `call`, for a `function` that stands where `name` does."""
    asked = signature(function).parameters
    lacking = [one.name for one in asked.values() if one.default is Parameter.empty and one.name not in given]
    if lacking:
        raise MovedSeam(name, "moved", f"it needs {', '.join(lacking)}")
    return function(**{word: given[word] for word in asked if word in given})


def bound(name: str, args: Sequence[Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a call of the function `name` gives each of its parameters."""
    return signature(find(name)).bind(*args, **options).arguments


def field(owner: object, name: str) -> Any:
    """The attribute of `owner` that holds what FIELDS calls `name`. Raises MovedSeam if it has none of its names."""
    for attribute in FIELDS[name]:
        value = getattr(owner, attribute, _MISSING)
        if value is not _MISSING:
            return value
    raise MovedSeam(name, "moved", f"{type(owner).__name__} has no {' or '.join(FIELDS[name])}")


def replace(name: str, change: Callable[[Any], Any]) -> None:
    """Put `change(original)` wherever a loaded module of SGLang holds the reach `name` under its own name.

    SGLang imports by name, so the module that defines it is only one of its holders. A module that holds something else
    under that name (a fault under test) has that wrapped instead.
    """
    find(name)
    attribute = probe(name).detail.partition(":")[2]
    changed: dict[int, Any] = {}
    for module in held_by(attribute):
        original = vars(module)[attribute]
        if id(original) not in changed:
            changed[id(original)] = change(original)
        setattr(module, attribute, changed[id(original)])


def assign(name: str, value: Any) -> None:
    """Put `value` where the reach `name` is, in its own module alone. Raises MovedSeam if no known place has it."""
    find(name)
    module, _, attribute = probe(name).detail.partition(":")
    setattr(import_module(module), attribute, value)


def held_by(attribute: str) -> list[Any]:
    """The loaded modules of SGLang that hold a callable named `attribute`."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("sglang.") and module]
    return [module for module in modules if callable(vars(module).get(attribute))]


def _at(place: str) -> Any:
    """What is at `place`: None where the module is not there, _MISSING where the attribute is not."""
    module, _, path = place.partition(":")
    try:
        value: Any = import_module(module)
    except ModuleNotFoundError as missing:
        if missing.name in (None, module.partition(".")[0]) or not module.startswith(missing.name or ""):
            raise
        return None
    for part in path.split("."):
        value = getattr(value, part, _MISSING)
        if value is _MISSING:
            return _MISSING
    return value
