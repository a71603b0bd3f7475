"""Options that the engine derives from annotated fields: `tp_size: A[int, Arg(help=…, aliases=[…])] = 1`.

Since 0.5.14 in the class ServerArgs, since 0.5.20 in the namespace classes that it is assembled from; the rules are
those of `arg_groups/arg_utils.py:add_cli_args_from_dataclass`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ddtree_doctor.engine.source.evaluate import UNRESOLVED, Evaluator, literal
from ddtree_doctor.engine.source.registered import (
    Default,
    action_arity,
    as_arity,
    as_choices,
    as_default,
    deprecation,
    is_boolean_optional,
    negated,
    type_name,
)
from ddtree_doctor.engine.source.tree import Module, SourceTree
from ddtree_doctor.facts.model import Option

__all__ = ["Field", "declared_options", "fields_of"]

_MARKERS = ("A", "Annotated", "typing.Annotated")
_LISTS = ("list", "List", "typing.List", "Sequence")
_OPTIONALS = ("Optional", "typing.Optional")
_LITERALS = ("Literal", "typing.Literal")


@dataclass(frozen=True, slots=True)
class Field:
    """One annotated field with the module that it is declared in."""

    name: str
    annotation: ast.expr
    default: ast.expr | None
    module: Module
    line: int


def fields_of(evaluator: Evaluator, tree: SourceTree, module: Module) -> dict[str, Field]:
    """The fields of ServerArgs in the order of declaration, those of its namespaces included."""
    fields: dict[str, Field] = {}
    for found, home in _field_classes(evaluator, tree, module):
        for statement in found.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                name = statement.target.id
                annotation = _unquoted(statement.annotation)
                fields[name] = Field(name, annotation, statement.value, home, statement.lineno)
    return fields


def declared_options(evaluator: Evaluator, fields: Mapping[str, Field]) -> Iterator[Option]:
    """The options of the fields that carry command-line metadata."""
    for field in fields.values():
        parts = _annotated(field.annotation)
        if parts is not None:
            option = _Declaration(evaluator, field, *parts).option()
            if option is not None:
                yield option


def _field_classes(evaluator: Evaluator, tree: SourceTree, module: Module) -> Iterator[tuple[ast.ClassDef, Module]]:
    """ServerArgs, then the classes listed in `_INPUT_NAMESPACES`."""
    own = module.find("ServerArgs")
    if isinstance(own, ast.ClassDef):
        yield own, module
    listed = module.assigned("_INPUT_NAMESPACES")
    for element in listed.elts if isinstance(listed, ast.List | ast.Tuple) else ():
        found = evaluator.definition(element.id, module) if isinstance(element, ast.Name) else None
        if found is not None and isinstance(found[0], ast.ClassDef):
            yield found[0], found[1]


class _Declaration:
    """One field's annotation, taken apart."""

    def __init__(self, evaluator: Evaluator, field: Field, inner: ast.expr, metadata: ast.expr) -> None:
        self.evaluator, self.field = evaluator, field
        self.inner, self.optional = _without_none(inner)
        call = metadata if isinstance(metadata, ast.Call) else None
        self.keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg} if call else {}
        self.help = self._text("help") or (metadata.value if isinstance(metadata, ast.Constant) else "")

    def option(self) -> Option | None:
        """The option, None for a field that is kept off the command line."""
        if self._value("no_cli") is True:
            return None
        name, action = self.field.name, self.keywords.get("action")
        names = (self._text("cli_name") or f"--{name.replace('_', '-')}", *self._aliases())
        kind, arity = self._shape(action)
        default = self._default()
        return Option(
            name=name,
            options=negated(names) if is_boolean_optional(action) else names,
            type=kind,
            arity=arity,
            choices=self._choices(),
            default=default.value,
            default_known=default.known,
            deprecated=deprecation(action, {**self._action_texts(), "help": str(self.help)}),
            line=self.field.line,
        )

    def _shape(self, action: ast.expr | None) -> tuple[str, str]:
        """(type, arity), by the same cases in the same order as the engine."""
        if action is not None:
            return self._action_shape(action)
        head, arguments = _subscript(self.inner)
        parser = self.keywords.get("type_parser")
        if head in _LITERALS:
            first = literal(arguments[0]) if arguments else ""
            return type_name(parser) if parser else _plain(type(first).__name__), ""
        if head in _LISTS and parser is None:
            element = ast.unparse(arguments[0]) if arguments else "str"
            return _plain(element), as_arity(self._value("nargs")) or "+"
        if head == "bool":
            return "bool", "0"
        return type_name(parser) if parser else _plain(head), as_arity(self._value("nargs"))

    def _action_shape(self, action: ast.expr) -> tuple[str, str]:
        if is_boolean_optional(action) or literal(action) in ("store_true", "store_false"):
            return "bool", "0"
        extra = self._action_keywords()
        if "nargs" in extra:
            return type_name(extra.get("type")), as_arity(self._evaluate(extra["nargs"]))
        arity = "" if literal(action) is not UNRESOLVED else action_arity(self.evaluator, self.field.module, action)
        return ("bool" if arity == "0" else type_name(extra.get("type"))), arity

    def _choices(self) -> tuple[str, ...] | None:
        given = self.keywords.get("choices") or self._action_keywords().get("choices")
        if given is not None:
            return as_choices(self._evaluate(given))
        head, arguments = _subscript(self.inner)
        return as_choices([literal(argument) for argument in arguments]) if head in _LITERALS else None

    def _default(self) -> Default:
        given = self.field.default
        if isinstance(given, ast.Call):
            given = next((k.value for k in given.keywords if k.arg in ("default", "default_factory")), given)
            if isinstance(given, ast.Name) and given.id in ("list", "dict"):
                return Default([], True) if given.id == "list" else Default(None, False)
        return Default(None, False) if given is None else as_default(self._evaluate(given))

    def _aliases(self) -> tuple[str, ...]:
        aliases = self._value("aliases")
        return tuple(alias for alias in aliases if isinstance(alias, str)) if isinstance(aliases, list) else ()

    def _action_keywords(self) -> dict[str, ast.expr]:
        given = self.keywords.get("action_kwargs")
        if not isinstance(given, ast.Dict):
            return {}
        pairs = zip(given.keys, given.values, strict=True)
        return {
            key.value: value for key, value in pairs if isinstance(key, ast.Constant) and isinstance(key.value, str)
        }

    def _action_texts(self) -> dict[str, str]:
        texts = {name: self._evaluate(value) for name, value in self._action_keywords().items()}
        return {name: text for name, text in texts.items() if isinstance(text, str)}

    def _evaluate(self, expression: ast.expr) -> object:
        return self.evaluator.value(expression, self.field.module)

    def _value(self, keyword: str) -> object:
        given = self.keywords.get(keyword)
        return UNRESOLVED if given is None else self._evaluate(given)

    def _text(self, keyword: str) -> str:
        value = self._value(keyword)
        return value if isinstance(value, str) else ""


def _annotated(annotation: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """(type, metadata) of `A[type, metadata, …]`, None for an annotation without command-line metadata."""
    head, arguments = _subscript(annotation)
    if head not in _MARKERS or len(arguments) < 2:
        return None
    for metadata in arguments[1:]:
        is_call = isinstance(metadata, ast.Call) and ast.unparse(metadata.func).rpartition(".")[2] == "Arg"
        if is_call or isinstance(metadata, ast.JoinedStr) or isinstance(literal(metadata), str):
            return arguments[0], metadata
    return None


def _without_none(expression: ast.expr) -> tuple[ast.expr, bool]:
    """(`X`, True) of `Optional[X]` and `X | None`; (expression, False) of any other."""
    head, arguments = _subscript(expression)
    if head in _OPTIONALS and arguments:
        return arguments[0], True
    if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.BitOr):
        sides = [side for side in (expression.left, expression.right) if literal(side) is not None]
        if len(sides) == 1:
            return sides[0], True
    return expression, False


def _subscript(expression: ast.expr) -> tuple[str, tuple[ast.expr, ...]]:
    """(`list`, (`int`,)) of `list[int]`; (`int`, ()) of `int`."""
    if not isinstance(expression, ast.Subscript):
        return ast.unparse(expression) if isinstance(expression, ast.Name | ast.Attribute) else "", ()
    inner = expression.slice
    return ast.unparse(expression.value), tuple(inner.elts) if isinstance(inner, ast.Tuple) else (inner,)


def _plain(name: str) -> str:
    return name if name in ("int", "float", "str") else "str"


def _unquoted(annotation: ast.expr) -> ast.expr:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return annotation
    return annotation
