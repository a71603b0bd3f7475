"""The fault classes and their signatures, read from the data files beside this module."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from typing import Any

from ddtree_doctor.triage.events import Notice
from ddtree_doctor.triage.patterns import pattern

__all__ = ["FaultClass", "Signature", "Workaround", "catalogue", "notices"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workaround:
    """Something that may make the symptom go away, and what it can cost."""

    do: str
    risk: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What is telling of a class. Every condition that is given must hold; within a list one is enough.

    `text` patterns meet the fault's type and message, `text_all` all must, `without` none may; `near` patterns meet
    warnings shortly before it.
    `frames` patterns meet `file.py:function: source` of any frame. `config` maps a field of the deployment to `set`,
    `unset`, `=VALUE`, `~PATTERN`, `>NUMBER` or `<NUMBER`. `device` names kinds of device error, `reading` a row of the
    number table. `alone` holds literals: a line with one of them that meets `text` is a fault by itself; a `hazard` is
    one only where nothing else is wrong, and with `stalled` only where the log shows no progress after it. `weight` is
    `decisive`, `strong`, `supporting` or `weak`.
    `sources` are public URLs, `cases` the reports it was learnt from; `fixed_in` and `reverted_in` are changes, scope
    is `engine`, `backend` and `versions` (a specifier of `package`).
    """

    id: str
    weight: str
    means: str
    sources: tuple[str, ...]
    example: tuple[str, ...]
    near_miss: tuple[str, ...]
    text: tuple[str, ...] = ()
    text_all: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    exception: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    frames_all: tuple[str, ...] = ()
    phase: tuple[str, ...] = ()
    device: tuple[str, ...] = ()
    reading: tuple[str, ...] = ()
    config: Mapping[str, str] = field(default_factory=dict)
    milestone: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    hazard: bool = False
    stalled: bool = False
    engine: tuple[str, ...] = ()
    backend: tuple[str, ...] = ()
    versions: str = ""
    package: str = ""
    cases: tuple[str, ...] = ()
    fixed_in: tuple[str, ...] = ()
    reverted_in: tuple[str, ...] = ()
    fix: tuple[str, ...] = ()
    workarounds: tuple[Workaround, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultClass:
    """One of the 23 classes: what it is, what to do, which rules would have seen it before launch."""

    name: str
    title: str
    fix: tuple[str, ...]
    next_step: str
    cannot_show: str
    workarounds: tuple[Workaround, ...]
    rules: tuple[str, ...]
    signatures: tuple[Signature, ...]


@cache
def catalogue() -> Mapping[str, FaultClass]:
    """Every class by name. Raises ValueError where a data file does not keep to the format."""
    folder = files("ddtree_doctor.triage") / "signatures"
    classes = [_class(json.loads(file.read_text("utf-8"))) for file in folder.iterdir() if file.name.endswith(".json")]
    return {each.name: each for each in sorted(classes, key=lambda each: each.name)}


def notices(classes: Mapping[str, FaultClass]) -> tuple[Notice, ...]:
    """What the reader must know of the signatures that may stand alone."""
    return tuple(
        Notice(
            literals=signature.alone,
            patterns=tuple(re.compile(words) for words in signature.text),
            kind="hazard" if signature.hazard else "notice",
        )
        for each in classes.values()
        for signature in each.signatures
        if signature.alone
    )


def _class(data: dict[str, Any]) -> FaultClass:
    data["signatures"] = tuple(_signature(each) for each in data["signatures"])
    data["workarounds"] = _workarounds(data)
    return FaultClass(**_frozen(data, FaultClass))


def _signature(data: dict[str, Any]) -> Signature:
    data["workarounds"] = _workarounds(data)
    signature = Signature(**_frozen(data, Signature))
    own = (*signature.text, *signature.text_all, *signature.without, *signature.near)
    for text in (*own, *signature.frames, *signature.frames_all):
        pattern(text)
    return signature


def _workarounds(data: dict[str, Any]) -> tuple[Workaround, ...]:
    return tuple(Workaround(**each) for each in data.get("workarounds", ()))


def _frozen(data: dict[str, Any], kind: type) -> dict[str, Any]:
    names = {each.name for each in fields(kind)}
    if unknown := data.keys() - names:
        raise ValueError(
            f"{data.get('id') or data.get('name')}: unknown keys {sorted(unknown)}; known: {sorted(names)}"
        )
    return {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
