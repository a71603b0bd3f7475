"""One way to read the sizes of an error message: which row of the table, and how well it fits."""

from __future__ import annotations

from dataclasses import dataclass

from ddtree_doctor.triage.model import Number

__all__ = ["Reading", "assumed", "no", "verified"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """`fit` is `verified` (the log gives the sizes), `assumed` (they look like it; `missing` says what would tell) or
    `no` (`why` says what stands against it)."""

    row: str
    fault_class: str
    fit: str
    why: str
    numbers: tuple[Number, ...] = ()
    missing: tuple[str, ...] = ()


def verified(row: tuple[str, str], why: str, *numbers: tuple[int, str]) -> Reading:
    """The log itself gives the sizes."""
    return Reading(row=row[0], fault_class=row[1], fit="verified", why=why, numbers=_numbers(numbers))


def assumed(row: tuple[str, str], why: str, missing: tuple[str, ...], *numbers: tuple[int, str]) -> Reading:
    """The sizes look like it; `missing` would tell."""
    return Reading(row=row[0], fault_class=row[1], fit="assumed", why=why, numbers=_numbers(numbers), missing=missing)


def no(row: tuple[str, str], why: str) -> Reading:
    """The sizes are not of this kind."""
    return Reading(row=row[0], fault_class=row[1], fit="no", why=why)


def _numbers(pairs: tuple[tuple[int, str], ...]) -> tuple[Number, ...]:
    return tuple(Number(value=value, meaning=meaning) for value, meaning in pairs)
