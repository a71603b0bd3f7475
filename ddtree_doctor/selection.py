"""Which rules run: `--select` and `--ignore` take codes or prefixes of codes."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from ddtree_doctor.errors import UsageError
from ddtree_doctor.rule import Check

__all__ = ["selected"]


def selected(
    rules: Sequence[type[Check]], select: Sequence[str] = (), ignore: Sequence[str] = ()
) -> tuple[type[Check], ...]:
    """The rules that `select` names (all if empty) less those that `ignore` names.

    Raises UsageError where a code names no rule, or where nothing is left: no checks is no pass.
    """
    for code in (*select, *ignore):
        _known(code, rules)
    chosen = tuple(rule for rule in rules if _named(rule, select or ("DD",)) and not _named(rule, ignore))
    if not chosen:
        raise UsageError("checks: none is selected, and no checks is no pass; widen --select or narrow --ignore")
    return chosen


def _named(rule: type[Check], codes: Sequence[str]) -> bool:
    return any(rule.code.startswith(code.upper()) for code in codes)


def _known(code: str, rules: Sequence[type[Check]]) -> None:
    if code and any(rule.code.startswith(code.upper()) for rule in rules):
        return
    near = difflib.get_close_matches(code.upper(), [rule.code for rule in rules], n=3, cutoff=0.5)
    hint = f"; near: {', '.join(near)}" if near else ""
    raise UsageError(f"check {code!r}: no rule has this code or prefix{hint}; `doctor rules` lists all")
