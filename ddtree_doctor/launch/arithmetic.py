"""The value of `$((…))` over whole numbers, where it can be known."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence

__all__ = ["evaluate"]

MAX_LENGTH = 200
_LIMIT = 2**63

_TOKEN = re.compile(r"\s*(?:(\d{1,18})|\$?\{?([A-Za-z_]\w*|\d)\}?|([-+*/%()]))")
_SUMS: dict[str, Callable[[int, int], int]] = {"+": operator.add, "-": operator.sub}
_PRODUCTS: dict[str, Callable[[int, int], int]] = {
    "*": operator.mul,
    "/": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "%": lambda a, b: abs(a) % abs(b) * (1 if a >= 0 else -1),
}


class _Unknown(Exception):
    """It uses what is not known here."""


def evaluate(text: str, variable: Callable[[str], str | None]) -> int | None:
    """The value of an expression of + - * / % and parentheses, None where it is another or uses an unknown variable.

    `variable` gives a variable's text, None where it is not known. Division truncates, as in C.
    """
    try:
        tokens = _tokens(text, variable)
        value, rest = _sum(tokens)
    except (_Unknown, ZeroDivisionError, RecursionError):
        return None
    return value if not rest and -_LIMIT <= value < _LIMIT else None


def _tokens(text: str, variable: Callable[[str], str | None]) -> Sequence[int | str]:
    text = text.strip()
    if len(text) > MAX_LENGTH:
        raise _Unknown
    tokens: list[int | str] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            raise _Unknown
        at = match.end()
        number, name, sign = match.groups()
        tokens.append(sign or (_decimal(number) if number else _variable(name, variable)))
    return tokens


def _decimal(number: str) -> int:
    """Bash reads a leading zero as octal; such numbers are left alone."""
    if len(number) > 1 and number.startswith("0"):
        raise _Unknown
    return int(number)


def _variable(name: str, variable: Callable[[str], str | None]) -> int:
    text = (variable(name) or "").strip()
    if not re.fullmatch(r"-?\d{1,18}", text):
        raise _Unknown
    return -_decimal(text[1:]) if text.startswith("-") else _decimal(text)


def _sum(tokens: Sequence[int | str]) -> tuple[int, Sequence[int | str]]:
    return _chain(tokens, _SUMS, lambda rest: _chain(rest, _PRODUCTS, _factor))


def _chain(
    tokens: Sequence[int | str],
    operators: dict[str, Callable[[int, int], int]],
    operand: Callable[[Sequence[int | str]], tuple[int, Sequence[int | str]]],
) -> tuple[int, Sequence[int | str]]:
    value, tokens = operand(tokens)
    while tokens and tokens[0] in operators:
        combine = operators[str(tokens[0])]
        right, tokens = operand(tokens[1:])
        value = combine(value, right)
    return value, tokens


def _factor(tokens: Sequence[int | str]) -> tuple[int, Sequence[int | str]]:
    if not tokens:
        raise _Unknown
    first, rest = tokens[0], tokens[1:]
    if isinstance(first, int):
        return first, rest
    if first in "+-":
        value, rest = _factor(rest)
        return (-value if first == "-" else value), rest
    if first != "(":
        raise _Unknown
    value, rest = _sum(rest)
    if not rest or rest[0] != ")":
        raise _Unknown
    return value, rest[1:]
