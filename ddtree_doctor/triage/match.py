"""Hold signatures against a subject."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from ddtree_doctor.triage.catalogue import Signature
from ddtree_doctor.triage.setup import Setup
from ddtree_doctor.triage.subject import Subject

__all__ = ["matches"]


def matches(signature: Signature, subject: Subject) -> bool:
    """Whether every condition of `signature` holds."""
    return (
        _one_of(signature.engine, (subject.engine,))
        and _one_of(signature.phase, (subject.phase,))
        and _one_of(signature.device, subject.device)
        and _one_of(signature.exception, subject.exceptions)
        and _one_of(signature.reading, [subject.best.row] if subject.best else [])
        and _one_of(signature.milestone, subject.run.setup.milestones)
        and (subject.stalled or not signature.stalled)
        and _configured(signature.config, {**subject.run.setup.values, **subject.derived})
        and _in_scope(signature, subject.run.setup)
        and _texts(signature, subject)
        and _frames(signature, subject)
    )


def _one_of(wanted: tuple[str, ...], there: Iterable[str]) -> bool:
    return not wanted or any(word in wanted for word in there)


def _texts(signature: Signature, subject: Subject) -> bool:
    text = subject.text
    return (
        (not signature.text or any(_compiled(words).search(text) for words in signature.text))
        and all(_compiled(words).search(text) for words in signature.text_all)
        and not any(_compiled(words).search(text) for words in signature.without)
        and (not signature.near or any(_compiled(words).search(subject.near) for words in signature.near))
    )


def _frames(signature: Signature, subject: Subject) -> bool:
    if not signature.frames and not signature.frames_all:
        return True
    frames = "\n".join(str(frame) for frame in subject.frames)
    return (not signature.frames or any(_compiled(words).search(frames) for words in signature.frames)) and all(
        _compiled(words).search(frames) for words in signature.frames_all
    )


def _configured(wanted: Mapping[str, str], values: Mapping[str, object]) -> bool:
    return all(any(_holds(values.get(name), test) for name in names.split("|")) for names, test in wanted.items())


def _holds(value: object, test: str) -> bool:
    """One test of a field: `set`, `unset`, `=VALUE`, `~PATTERN`, `>NUMBER`, `<NUMBER`."""
    there = value not in (None, "", False, "None", "0", "false", "False")
    if test in ("set", "unset"):
        return there is (test == "set")
    if test[0] in "<>":
        number = value if isinstance(value, int) else int(value) if isinstance(value, str) and value.isdigit() else None
        return number is not None and (number > int(test[1:]) if test[0] == ">" else number < int(test[1:]))
    text = "" if value is None else str(value)
    return bool(_compiled(test[1:]).search(text)) if test[0] == "~" else text.upper() == test[1:].upper()


def _in_scope(signature: Signature, setup: Setup) -> bool:
    """Whether backend and version, where the log tells them, are those the signature speaks of."""
    used = " ".join(
        setup.text(name) for name in ("attention_backend", "decode_attention_backend", "prefill_attention_backend")
    )
    if signature.backend and used.strip() and not any(name in used.lower() for name in signature.backend):
        return False
    if not signature.versions or not (version := setup.text(f"version.{signature.package}")):
        return True
    try:
        return Version(version) in SpecifierSet(signature.versions, prereleases=True)
    except (InvalidVersion, InvalidSpecifier):
        return True


@cache
def _compiled(text: str) -> re.Pattern[str]:
    return re.compile(text)
