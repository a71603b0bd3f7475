"""Groups a command's words into flags, as argparse does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ddtree_doctor.launch.model import Flag, Location
from ddtree_doctor.launch.placeholders import why_unknown
from ddtree_doctor.launch.scope import Remark
from ddtree_doctor.launch.table import Table
from ddtree_doctor.launch.words import Field

if TYPE_CHECKING:
    from ddtree_doctor.facts.model import Option

__all__ = ["REFUSED", "Flags"]

REFUSED = frozenset({"stray-words", "missing-value", "value-for-switch", "ambiguous-option"})
"""Kinds of notes on what argparse refuses: SGLang exits before it loads anything."""

BUILT_IN = {"--config": ("config", ""), "--help": ("help", "0"), "-h": ("help", "0")}
"""Options of every release that are no field of the engine: name and arity."""

SERVE_ONLY = {"--model-type": ("model_type", "")}
"""Options that `sglang serve` takes for itself."""

MANY = 10**9


class Flags:
    """Reads words into `flags`; `remarks` says what argparse would refuse; `unknown` what was no flag at all."""

    def __init__(self, table: Table, file: str | None, *, serve: bool = False) -> None:
        self.table = table
        self.file = file
        self.own = {**BUILT_IN, **SERVE_ONLY} if serve else BUILT_IN
        self.flags: list[Flag] = []
        self.remarks: list[Remark] = []
        self.unknown: dict[str, str] = {}

    def read(self, fields: Sequence[Field]) -> None:
        """Take up every word. A word that no option takes is a remark: argparse refuses it."""
        at = 0
        while at < len(fields):
            if fields[at].text == "--":
                self._strays(fields[at + 1 :])
                return
            if self.table.is_option(fields[at].text):
                at = self._option(fields, at)
            else:
                end = self._values_end(fields, at, MANY)
                self._strays(fields[at:end])
                at = end

    def _option(self, fields: Sequence[Field], at: int) -> int:
        one = fields[at]
        text, equals, explicit = one.text.partition("=")
        if one.text in self.table:
            text, equals = one.text, ""
        name, arity = self._resolve(text, one)
        if equals:
            value = one.with_text(explicit)
            self._add(one, text, name, (value,), why_unknown(value))
            if arity == "0":
                self._say("value-for-switch", f"{text} is a switch and takes no value; argparse refuses it", one.line)
            return at + 1
        end = self._values_end(fields, at + 1, _count(arity))
        values = tuple(fields[at + 1 : end])
        self._add(one, text, name, values, next((why for value in values if (why := why_unknown(value))), ""))
        if not values and arity not in ("0", "?", "*", None):
            self._say("missing-value", f"{text} needs a value and none follows; argparse refuses it", one.line)
        return end

    def _resolve(self, text: str, one: Field) -> tuple[str | None, str | None]:
        """An option's field and arity, (None, None) where the engine has no such option."""
        option: Option | None = self.table.option(text)
        if option:
            return option.name, option.arity
        if text in self.own:
            return self.own[text]
        candidates = self.table.completions(text) if text.startswith("--") and len(text) > 2 else []
        if candidates:
            names = ", ".join(candidates[:5])
            self._say(
                "ambiguous-option", f"{text} abbreviates several options ({names}); argparse refuses it", one.line
            )
        return None, None

    def _values_end(self, fields: Sequence[Field], begin: int, count: int) -> int:
        """The offset after up to `count` values from `begin` on."""
        end = begin
        while end < len(fields) and end - begin < count and not self._is_option(fields[end].text):
            end += 1
        return end

    def _is_option(self, text: str) -> bool:
        return text == "--" or self.table.is_option(text)

    def _add(self, one: Field, text: str, name: str | None, values: tuple[Field, ...], why: str) -> None:
        flag = Flag(
            option=text,
            name=name,
            values=tuple(value.text for value in values),
            location=Location(file=self.file, line=one.line),
            unknown=(one.why if one.text.startswith(text) and one.why else "") or why,
        )
        self.flags.append(flag)

    def _strays(self, fields: Sequence[Field]) -> None:
        for one in fields:
            if why := why_unknown(one):
                self.unknown[one.text] = f"{why}; words that it adds are not judged"
                self._say("unknown-words", f"{one.text}: {why}; words that it adds are not judged", one.line)
        known = [one for one in fields if not why_unknown(one)]
        if known:
            after = f" after {self.flags[-1].option}" if self.flags else ""
            words = " ".join(repr(one.text[:40]) for one in known[:5])
            self._say("stray-words", f"{words}{after} belongs to no option; argparse refuses it", known[0].line)

    def _say(self, kind: str, text: str, line: int | None) -> None:
        self.remarks.append(Remark(kind, text, line))


def _count(arity: str | None) -> int:
    """How many words an option takes at most. All that follow belong to an unknown one."""
    if arity is None or arity in ("+", "*"):
        return MANY
    if arity in ("", "?"):
        return 1
    return int(arity) if arity.isdigit() else MANY
