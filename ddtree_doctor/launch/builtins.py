"""The shell's own commands that change what later commands receive."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ddtree_doctor.launch.expansion import Expander
from ddtree_doctor.launch.scope import Array, Scope, as_fields
from ddtree_doctor.launch.words import ArrayWord, Field, Piece, Word

__all__ = ["CHANGES", "DECLARES", "ENDS", "assign", "assignment", "declare"]

DECLARES = frozenset({"export", "declare", "typeset", "local", "readonly"})

ENDS = {"exit": "exit", "return": "return", "break": "break", "continue": "break"}
"""Commands after which nothing more of the list runs → what they end."""

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[([^\]]*)\])?(\+?)=")


def assignment(word: Word) -> tuple[str, str | None, bool, Word] | None:
    """(name, index, whether it appends, value) of `NAME[index]+=value`, None where the word is no assignment."""
    match = _ASSIGNMENT.match(word.begins)
    first = word.parts[0] if word.parts else None
    if not match or not isinstance(first, Piece):
        return None
    value = Word((first._replace(text=first.text[match.end() :]), *word.parts[1:]), word.line)
    return match.group(1), match.group(2), bool(match.group(3)), value


def assign(scope: Scope, expander: Expander, word: Word | ArrayWord) -> None:
    """Carry out one assignment."""
    if isinstance(word, ArrayWord):
        array = Array(tuple(expander.fields(word.items)))
        scope.append(word.name, array) if word.append else scope.set(word.name, array)
        return
    parsed = assignment(word)
    if not parsed:
        return
    name, index, append, value = parsed
    pieces = expander.value(value.parts)
    if index is not None:
        _element(scope, name, index, pieces, word.line)
    elif append:
        scope.append(name, pieces)
    else:
        scope.set(name, pieces)


def declare(scope: Scope, expander: Expander, command: str, words: Sequence[Word | ArrayWord]) -> None:
    """`export`, `declare`, `local`, `readonly`: assignments that may also export."""
    exports = command == "export"
    for word in words:
        if isinstance(word, Word) and word.begins.startswith("-"):
            exports = exports or "x" in word.begins
            if command == "export" and "n" in word.begins:
                exports = False
            continue
        for name in _declared(scope, expander, word):
            if exports:
                scope.exported.add(name)
            elif command == "export":
                scope.exported.discard(name)


def _declared(scope: Scope, expander: Expander, word: Word | ArrayWord) -> list[str]:
    """Carry out the assignment in a declaration's word; returns the names declared."""
    if isinstance(word, ArrayWord):
        assign(scope, expander, word)
        return [word.name]
    if parsed := assignment(word):
        assign(scope, expander, word)
        return [parsed[0]]
    return [name for one in expander.fields([word]) if (name := _from_field(scope, one))]


def _from_field(scope: Scope, one: Field) -> str:
    """`export $PAIR`: an assignment that only expansion makes one."""
    name, equals, value = one.text.partition("=")
    if equals and name.isidentifier():
        scope.set(name, (Piece(value, one.line, why=one.why),))
    return name if name.isidentifier() else ""


def _element(scope: Scope, name: str, index: str, pieces: tuple[Piece, ...], line: int | None) -> None:
    """`NAME[index]=value`; only an index that appends or replaces keeps the array known."""
    fields = as_fields(scope.variables.get(name))
    at = int(index) if index.isascii() and index.isdigit() and len(index) < 6 else -1
    if 0 <= at <= len(fields):
        scope.set(name, Array((*fields[:at], Field.of(pieces), *fields[at + 1 :])))
    else:
        scope.set(name, (Piece(f"${name}", line, why=f"`${name}` is set element by element"),))


def _set(scope: Scope, fields: Sequence[Field]) -> None:
    """`set -a`, `set -o allexport`, `set -- WORDS`."""
    at = 0
    while at < len(fields):
        text = fields[at].text
        if text == "--" or not text.startswith(("-", "+")):
            scope.positional = tuple(fields[at + (text == "--") :])
            return
        names = fields[at + 1].text if text.endswith("o") and at + 1 < len(fields) else ""
        if "a" in text or names == "allexport":
            scope.export_all = text.startswith("-")
        at += 2 if names else 1


def _shift(scope: Scope, fields: Sequence[Field]) -> None:
    count = int(fields[0].text) if fields and fields[0].text.isdigit() and len(fields[0].text) < 6 else 1
    if scope.positional is not None:
        scope.positional = scope.positional[count:]


def _unset(scope: Scope, fields: Sequence[Field]) -> None:
    for one in fields:
        scope.unset(one.text)


def _forget(scope: Scope, fields: Sequence[Field]) -> None:
    """`read`, `mapfile`, `let`, `getopts`, `printf -v`: the variables they fill are known only when they run."""
    for one in fields:
        name = re.split(r"[-+*/%]?=", one.text, maxsplit=1)[0]
        if name.isidentifier():
            scope.set(name, (Piece(f"${name}", one.line, why=f"`${name}` is read when the script runs"),))


def _printf(scope: Scope, fields: Sequence[Field]) -> None:
    if len(fields) > 1 and fields[0].text == "-v":
        _forget(scope, fields[1:2])


CHANGES: dict[str, Callable[[Scope, Sequence[Field]], None]] = {
    "set": _set,
    "shift": _shift,
    "unset": _unset,
    "read": _forget,
    "mapfile": _forget,
    "readarray": _forget,
    "getopts": _forget,
    "let": _forget,
    "printf": _printf,
}
