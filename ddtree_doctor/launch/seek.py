"""A command with the lines below it that were meant to be its own: what SGLang receives, and what was meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ddtree_doctor.launch.command import Command, Found, Script
from ddtree_doctor.launch.nodes import Cut
from ddtree_doctor.launch.words import Field
from ddtree_doctor.launch.wrappers import unwrap

__all__ = ["mentioned", "seek"]


def mentioned(fields: Iterable[Field]) -> bool:
    """Whether any word speaks of SGLang: most commands of a script need no closer look."""
    return any("sglang" in one.text or "launch_server" in one.text for one in fields)


def seek(command: Command) -> Found | Script | None:
    """The launch that a command starts, a script for another shell, or None."""
    passed = unwrap(command.fields, command.environment)
    if isinstance(passed, Script):
        return passed
    if not passed and not command.rest:
        return None
    cuts, lost = _rest(command)
    below = [one for fields in lost for one in fields]
    meant = unwrap(_joined(command.fields, below), command.environment) if cuts or _faulty(command.fields) else None
    if isinstance(meant, Script):
        meant = None
    if not passed and not meant:
        return None
    return Found(
        passed=passed,
        meant=meant,
        cuts=cuts,
        lost=lost,
        remarks=command.remarks,
        unexported=command.unexported,
        line=command.line,
    )


def _rest(command: Command) -> tuple[tuple[Cut, ...], tuple[tuple[Field, ...], ...]]:
    """The faults that cut the command, and the words that they cut off."""
    cuts: list[Cut] = []
    lost: list[tuple[Field, ...]] = []
    ends = command.fields
    for cut, fields in command.rest:
        if not fields or not (fields[0].text.startswith("-") or _awaits_value(ends)):
            break
        cuts.append(cut)
        lost.append(fields)
        ends = fields
    return tuple(cuts), tuple(lost)


def _awaits_value(fields: Sequence[Field]) -> bool:
    """Whether the last word that is meant is an option: the next line then holds its value."""
    last = next((one for one in reversed(fields) if one.clean and one.clean.strip()), None)
    return last is not None and last.text.startswith("--") and "=" not in last.text


def _faulty(fields: Iterable[Field]) -> bool:
    return any(one.clean != one.text for one in fields)


def _joined(fields: Sequence[Field], lost: Sequence[Field]) -> tuple[Field, ...]:
    """The words that were meant, without what the faults put between them."""
    return tuple(_cleaned(one) for one in (*fields, *lost) if one.clean is not None)


def _cleaned(one: Field) -> Field:
    if one.clean == one.text:
        return one
    return Field.of(tuple(piece for piece in one.pieces if not piece.junk))
