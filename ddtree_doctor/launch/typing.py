"""A flag's words as a value of its option's type, by argparse's rules."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ddtree_doctor.knowledge import Value
from ddtree_doctor.launch.model import Flag

if TYPE_CHECKING:
    from ddtree_doctor.facts.model import Option

__all__ = ["malformed", "typed"]

MAX_WORD = 64

_SI = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_IEC = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_HUMAN = re.compile(r"(\d{1,30}(?:\.\d{1,30})?)(Ki|Mi|Gi|Ti|k|M|G|T)")


class _Malformed(Exception):
    """The words are none of the option's type; the message says what it takes."""


def typed(flag: Flag, option: Option | None) -> Value[Any]:
    """The flag's value: a switch gives a bool, several words a tuple, all others one int, float, str or JSON value.

    A flag without an option (the engine does not know it) gives its words as text. What cannot be known before run
    time, and what argparse would refuse, is an unknown Value that says why.
    """
    name = flag.name or flag.option.lstrip("-").replace("-", "_")
    if flag.unknown:
        return Value(name=name, why=f"{flag.option}: {flag.unknown}")
    try:
        value = _untyped(flag) if option is None else _value(flag, option)
    except _Malformed as error:
        return Value(name=name, why=str(error))
    return Value(name=name, value=value, origin="given", why=" ".join((flag.option, *flag.values)))


def malformed(flag: Flag, option: Option) -> str:
    """Why argparse refuses the flag's words, "" where it takes them or where they are not known yet."""
    return "" if flag.unknown else typed(flag, option).why if not typed(flag, option).known else ""


def _untyped(flag: Flag) -> Any:
    if not flag.values:
        return not flag.option.startswith("--no-")
    return flag.values[0] if len(flag.values) == 1 else flag.values


def _value(flag: Flag, option: Option) -> Any:
    if option.arity == "0":
        return _switch(flag, option)
    values = tuple(_word(word, flag, option) for word in flag.values)
    if option.arity in ("+", "*") or option.arity.isdigit():
        if len(values) < _fewest(option.arity):
            raise _Malformed(f"{flag.option} takes {_expected(option)}, {len(values)} given")
        return values
    if not values and option.arity == "?":
        return None
    if len(values) != 1:
        raise _Malformed(f"{flag.option} takes one value, {len(values) or 'none'} given")
    return values[0]


def _switch(flag: Flag, option: Option) -> bool:
    if flag.values:
        raise _Malformed(f"{flag.option} is a switch, {flag.values[0][:MAX_WORD]!r} given; leave the value out")
    spelled = next((text for text in option.options if text.startswith(flag.option)), flag.option)
    return not (spelled.startswith("--no-") and "--" + spelled.removeprefix("--no-") in option.options)


def _fewest(arity: str) -> int:
    return int(arity) if arity.isdigit() else {"+": 1}.get(arity, 0)


def _expected(option: Option) -> str:
    return f"{option.arity} values" if option.arity.isdigit() else "one value or more"


def _word(word: str, flag: Flag, option: Option) -> Any:
    convert, described = _TYPES.get(option.type.removeprefix("Optional[").rstrip("]"), (str, "a word"))
    try:
        value = convert(word)
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise _Malformed(f"{flag.option} takes {described}, {word[:MAX_WORD]!r} given") from error
    if option.choices is not None and str(value) not in option.choices:
        allowed = ", ".join(option.choices)
        raise _Malformed(f"{flag.option} takes one of {allowed}; {word[:MAX_WORD]!r} given")
    return value


def _integer(word: str) -> int:
    if len(word) > MAX_WORD:
        raise ValueError(word)
    return int(word)


def _human_integer(word: str) -> int:
    """`25.6k`, `1Mi` (`human_readable_int` in sglang/srt/utils/common.py)."""
    match = _HUMAN.fullmatch(word.strip())
    if not match:
        return _integer(word)
    number, suffix = match.groups()
    scaled = Decimal(number) * (_SI.get(suffix) or _IEC[suffix])
    if (suffix in _IEC and "." in number) or scaled != int(scaled):
        raise ValueError(word)
    return int(scaled)


def _boolean(word: str) -> bool:
    """argparse's `type=bool` takes any word but the empty one for true; a person means the word."""
    known = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
    if word.lower() not in known:
        raise ValueError(word)
    return known[word.lower()]


def _nullable(word: str) -> str | None:
    return None if word in ("", "None") else word


_JSON = (json.loads, "a JSON value")

_TYPES: dict[str, tuple[Callable[[str], Any], str]] = {
    "int": (_integer, "a whole number"),
    "human_readable_int": (_human_integer, "a whole number, also as 25.6k or 1Mi"),
    "float": (float, "a number"),
    "bool": (_boolean, "true or false"),
    "nullable_str": (_nullable, "a word"),
    "loads": _JSON,
    "json.loads": _JSON,
    "json": _JSON,
    "dict": _JSON,
    "json_list_type": _JSON,
    "parse_cuda_graph_config_arg": _JSON,
}
"""Name of a type in the engine's source → how a word is read, and how a message names it."""
