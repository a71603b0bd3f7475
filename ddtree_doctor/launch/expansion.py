"""Turns words into what the command receives: parameters, splitting, arrays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from ddtree_doctor.launch.arithmetic import evaluate
from ddtree_doctor.launch.braces import expand_braces
from ddtree_doctor.launch.scope import Array, Remark, Scope, as_fields
from ddtree_doctor.launch.secrets import REDACTED, is_secret_name
from ddtree_doctor.launch.words import Arithmetic, Field, Parameter, Part, Piece, Word

__all__ = ["Expander"]

MANY_PIECES = 64

_SPLIT = re.compile(r"([ \t\n]+)")
_POSITIONAL = re.compile(r"[0-9]+|[@*#]")


class _Fields:
    """Fields under construction."""

    def __init__(self) -> None:
        self.done: list[Field] = []
        self.pieces: list[Piece] = []

    def add(self, piece: Piece) -> None:
        self.pieces.append(piece)

    def cut(self) -> None:
        if self.pieces:
            self.done.append(Field.of(tuple(self.pieces)))
            self.pieces = []


class Expander:
    """Expands words in a scope. `remarks` collects what was assumed."""

    def __init__(self, scope: Scope, remarks: list[Remark]) -> None:
        self.scope = scope
        self.remarks = remarks

    def fields(self, words: Iterable[Word]) -> list[Field]:
        """The words a command receives: braces, then parameters, then splitting."""
        return [one for word in words for braced in expand_braces(word) for one in self._word(braced)]

    def value(self, parts: Sequence[Part]) -> tuple[Piece, ...]:
        """The text an assignment stores: nothing is split."""
        pieces = [piece._replace(quoted=False) for piece in self._pieces(parts) if piece.text or piece.why]
        self.scope.budget.produce(sum(len(piece.text) for piece in pieces))
        return tuple(pieces if len(pieces) <= MANY_PIECES else _joined_pieces(pieces))

    def _pieces(self, parts: Sequence[Part]) -> list[Piece]:
        pieces: list[Piece] = []
        for part in parts:
            pieces += [part] if isinstance(part, Piece) else self._joined(part)
        return pieces

    def _word(self, word: Word) -> list[Field]:
        if len(word.parts) == 1 and type(word.parts[0]) is Piece:
            return [Field.of((word.parts[0],))]
        fields = _Fields()
        for part in word.parts:
            self._part(part, fields)
        fields.cut()
        self.scope.budget.produce(sum(len(one.text) + 1 for one in fields.done))
        return fields.done

    def _part(self, part: Part, fields: _Fields) -> None:
        if isinstance(part, Piece):
            fields.add(part)
        elif isinstance(part, Parameter) and (elements := self._elements(part)) is not None:
            self._several(elements, part, fields)
        elif part.quoted:
            for piece in self._joined(part) or [Piece("", part.line)]:
                fields.add(_quoted(piece, part.junk))
        else:
            for piece in self._joined(part):
                _split(piece._replace(junk=piece.junk or part.junk), fields)

    def _several(self, elements: Sequence[Field], part: Parameter, fields: _Fields) -> None:
        """`"${ARRAY[@]}"`: one word an element; unquoted each is split as well."""
        for index, element in enumerate(elements):
            if index:
                fields.cut()
            for piece in element.pieces or (Piece("", part.line, part.quoted),):
                if part.quoted:
                    fields.add(_quoted(piece, part.junk))
                else:
                    _split(piece, fields)

    def _elements(self, part: Parameter) -> Sequence[Field] | None:
        """The elements where `part` stands for several words, else None."""
        several = part.subscript or part.name
        if several not in ("@", "*") or (several == "*" and part.quoted):
            return None
        known = self.scope.positional if part.name in "@*" else self._array(part.name)
        if part.operator and (known is None or (not known and ":" in part.operator)):
            return self._alternative(part)
        if part.operator.lstrip(":") == "+":
            return self._argument_fields(part)
        return self._arguments(part) if known is None else [_bare(one) for one in known]

    def _arguments(self, part: Parameter) -> Sequence[Field]:
        """`"$@"` of the script itself, or an array that the file does not set."""
        if part.name in "@*":
            text = "arguments given to the script are added to the command; without any it is judged as it stands"
            self.remarks.append(Remark("arguments", text, part.line))
            return ()
        return (Field.of((self._unset(part),)),)

    def _alternative(self, part: Parameter) -> Sequence[Field]:
        return () if part.operator.lstrip(":") == "+" else self._argument_fields(part)

    def _argument_fields(self, part: Parameter) -> Sequence[Field]:
        return self._word(Word(part.argument, part.line))

    def _array(self, name: str) -> Sequence[Field] | None:
        value = self.scope.variables.get(name)
        self.scope.used.add(name)
        return None if value is None else as_fields(value)

    def _joined(self, part: Parameter | Arithmetic) -> list[Piece]:
        """The text of one expansion."""
        if isinstance(part, Arithmetic):
            return [self._arithmetic(part)]
        found = self._lookup(part)
        if part.operator:
            found = self._operate(part, found)
        elif found is None:
            found = [self._unset(part)]
        if is_secret_name(part.name):
            return self._hidden(found)
        return [piece if piece.line is not None else piece._replace(line=part.line) for piece in found]

    def _hidden(self, pieces: list[Piece]) -> list[Piece]:
        for piece in pieces:
            if not piece.why:
                self.scope.vault.keep(piece.text)
        return [piece if piece.why or not piece.text else piece._replace(text=REDACTED) for piece in pieces]

    def _arithmetic(self, part: Arithmetic) -> Piece:
        result = evaluate(part.text, self._number)
        if result is None:
            return Piece("$((…))", part.line, why="`$((…))` is computed by the shell when it runs", junk=part.junk)
        return Piece(str(result), part.line, junk=part.junk)

    def _number(self, name: str) -> str | None:
        if name.isdigit():
            at = int(name) - 1
            known = self.scope.positional
            return known[at].text if known and 0 <= at < len(known) and not known[at].why else None
        return self.scope.text(name)

    def _lookup(self, part: Parameter) -> list[Piece] | None:
        """The parameter's pieces, None where this file does not set it."""
        if _POSITIONAL.fullmatch(part.name):
            return self._positional(part.name)
        value = self.scope.variables.get(part.name)
        self.scope.used.add(part.name)
        if value is None:
            return None
        if part.subscript in ("@", "*"):
            return _with_blanks(as_fields(value))
        if isinstance(value, Array) or part.subscript:
            return self._element(as_fields(value), int(part.subscript or 0))
        return list(value)

    def _element(self, elements: Sequence[Field], at: int) -> list[Piece]:
        inside = -len(elements) <= at < len(elements)
        return [piece._replace(quoted=False) for piece in elements[at].pieces] if inside else []

    def _positional(self, name: str) -> list[Piece] | None:
        known = self.scope.positional
        if known is None or name == "0":
            return [] if name in "@*" else None
        if name == "#":
            return [Piece(str(len(known)), None)]
        if name in "@*":
            return _with_blanks(known)
        return self._element(known, int(name) - 1) if len(name) < 6 else []

    def _operate(self, part: Parameter, found: list[Piece] | None) -> list[Piece]:
        """`:-`, `:=`, `:+` and `:?`, with and without the colon."""
        present = found is not None and not (":" in part.operator and _empty(found))
        kind = part.operator.lstrip(":")
        if kind == "+":
            return self._pieces(part.argument) if present else []
        if present and found is not None:
            return found
        if kind == "?":
            return [self._unset(part)]
        return self._default(part, assign=kind == "=", unset=found is None)

    def _default(self, part: Parameter, *, assign: bool, unset: bool) -> list[Piece]:
        text = f"{part.shown} is not set in this file; its default is taken"
        assumed = text if unset else ""
        pieces = [piece._replace(assumed=piece.assumed or assumed) for piece in self._pieces(part.argument)]
        if assign and part.name.isidentifier():
            self.scope.set(part.name, tuple(piece._replace(quoted=False) for piece in pieces if piece.text))
        return pieces

    def _unset(self, part: Parameter) -> Piece:
        shown = part.shown
        if part.name.isdigit() or part.name in "@*#":
            why = f"`{shown}` is an argument of the script"
        else:
            why = f"`{shown}` is not set in this file"
        return Piece(shown, part.line, why=why, junk=part.junk)


def _joined_pieces(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The same text with neighbours that differ in nothing but their text made one."""
    for _, alike in groupby(pieces, key=lambda piece: piece._replace(text="")):
        group = list(alike)
        yield group[0]._replace(text="".join(piece.text for piece in group))


def _quoted(piece: Piece, junk: str) -> Piece:
    return piece._replace(quoted=True, junk=piece.junk or junk)


def _bare(one: Field) -> Field:
    """The field as an unquoted expansion sees it: open to splitting."""
    return Field.of(tuple(piece._replace(quoted=False) for piece in one.pieces))


def _empty(pieces: list[Piece]) -> bool:
    return not any(piece.text or piece.why for piece in pieces)


def _with_blanks(fields: Sequence[Field]) -> list[Piece]:
    """The fields' pieces, joined by single blanks."""
    pieces: list[Piece] = []
    for index, one in enumerate(fields):
        if index:
            pieces.append(Piece(" ", one.line))
        pieces += one.pieces
    return pieces


def _split(piece: Piece, fields: _Fields) -> None:
    """Unquoted text ends a field at each run of blanks; nothing at all makes no field."""
    if piece.quoted or (piece.why and not piece.text):
        fields.add(piece)
        return
    for index, text in enumerate(_SPLIT.split(piece.text)):
        if index % 2:
            fields.cut()
        elif text:
            fields.add(piece._replace(text=text, quoted=False))
