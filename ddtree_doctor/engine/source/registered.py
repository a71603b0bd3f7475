"""Options that the engine registers by hand: the `add_argument` calls of `ServerArgs.add_cli_args`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ddtree_doctor.engine.source.evaluate import UNRESOLVED, Evaluator, literal
from ddtree_doctor.engine.source.tree import Definition, Module
from ddtree_doctor.facts.model import Option

__all__ = ["Default", "action_arity", "as_choices", "as_default", "deprecation", "registered_options", "type_name"]

SWITCHES = {"store_true": "bool", "store_false": "bool", "store_const": "str", "help": "bool", "version": "bool"}
_REPEATED = {"append", "extend"}
_UNKNOWN_TYPE = "str"


@dataclass(frozen=True, slots=True)
class Default:
    """An option's default: the literal, and whether it is known."""

    value: Any
    known: bool


def registered_options(
    evaluator: Evaluator, module: Module, function: ast.AST, defaults: Mapping[str, ast.expr]
) -> Iterator[Option]:
    """The options of the `add_argument` calls in `function`; `defaults` are the default expressions by field."""
    calls = (node for node in ast.walk(function) if isinstance(node, ast.Call))
    scope = _locals(function)
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument":
            names = [evaluator.value(argument, module) for argument in call.args]
            if names and all(isinstance(name, str) for name in names):
                yield _Call(evaluator, module, call, scope, defaults).option(tuple(names))


class _Call:
    """One `add_argument` call, with what is needed to make sense of its keywords."""

    def __init__(
        self,
        evaluator: Evaluator,
        module: Module,
        call: ast.Call,
        scope: Mapping[str, ast.expr],
        defaults: Mapping[str, ast.expr],
    ) -> None:
        self.evaluator, self.module, self.line, self.scope, self.defaults = (
            evaluator,
            module,
            call.lineno,
            scope,
            defaults,
        )
        self.keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}

    def option(self, names: tuple[str, ...]) -> Option:
        """The option with these spellings."""
        name = self._text("dest") or destination(names)
        action = self.keywords.get("action")
        kind, arity = self._shape(action)
        default = self._default()
        return Option(
            name=name,
            options=negated(names) if is_boolean_optional(action) else names,
            type=kind,
            arity=arity,
            choices=as_choices(self._value("choices")),
            default=default.value,
            default_known=default.known,
            deprecated=deprecation(action, {k: self._text(k) for k in ("new_flag", "error_message", "help")}),
            line=self.line,
        )

    def _shape(self, action: ast.expr | None) -> tuple[str, str]:
        """(type, arity)."""
        if is_boolean_optional(action):
            return "bool", "0"
        named = self.evaluator.value(action, self.module) if action is not None else "store"
        if isinstance(named, str) and named in SWITCHES:
            return SWITCHES[named], "0"
        kind = type_name(self.keywords.get("type"))
        if "nargs" in self.keywords:
            return kind, as_arity(self._value("nargs"))
        if isinstance(named, str):
            return kind, ""
        arity = action_arity(self.evaluator, self.module, action)
        return ("bool" if arity == "0" else kind), arity

    def _default(self) -> Default:
        given = self.keywords.get("default")
        if given is None:
            return Default(False if self._is_switch() else None, self._value("required") is not True)
        field = _field_of(given)
        if field is not None and field in self.defaults:
            return as_default(self.evaluator.value(self.defaults[field], self.module))
        return as_default(self._value("default"))

    def _is_switch(self) -> bool:
        """Whether it stores True: only then is it False where it is not given."""
        action = self.keywords.get("action")
        if isinstance(action, ast.Name):
            found = self.evaluator.definition(action.id, self.module)
            return constructor_default(self.evaluator, found, "const") is True if found else False
        return literal(action) == "store_true"

    def _value(self, keyword: str) -> Any:
        given = self.keywords.get(keyword)
        return UNRESOLVED if given is None else self.evaluator.value(given, self.module, self.scope)

    def _text(self, keyword: str) -> str:
        value = self._value(keyword)
        return value if isinstance(value, str) else ""


def destination(names: tuple[str, ...]) -> str:
    """The field that argparse would set: of the first long spelling, else of the first."""
    chosen = next((name for name in names if name.startswith("--")), names[0])
    return chosen.lstrip("-").replace("-", "_")


def negated(names: tuple[str, ...]) -> tuple[str, ...]:
    """The spellings of a BooleanOptionalAction: `--x` also as `--no-x`."""
    return tuple(
        spelling for name in names for spelling in ((name, f"--no-{name[2:]}") if name.startswith("--") else (name,))
    )


def is_boolean_optional(action: ast.expr | None) -> bool:
    """Whether `action` is argparse's BooleanOptionalAction."""
    return action is not None and ast.unparse(action).rpartition(".")[2] == "BooleanOptionalAction"


def action_arity(evaluator: Evaluator, module: Module, action: ast.expr | None) -> str:
    """Arity of a custom action class: the default of `nargs` in its own constructor, one value where it has none."""
    found = evaluator.definition(action.id, module) if isinstance(action, ast.Name) else None
    return as_arity(constructor_default(evaluator, found, "nargs")) if found else ""


def constructor_default(evaluator: Evaluator, found: tuple[Definition, Module], parameter: str) -> Any:
    """What a class's own `__init__` gives `parameter` by default, UNRESOLVED where it has no such parameter."""
    definition, module = found
    constructor = Module(module.path, ast.Module([definition], [])).find(f"{definition.name}.__init__")
    if not isinstance(constructor, ast.FunctionDef):
        return UNRESOLVED
    arguments = constructor.args
    positional = zip(reversed([*arguments.posonlyargs, *arguments.args]), reversed(arguments.defaults), strict=False)
    keyword = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    defaults = {argument.arg: default for argument, default in (*positional, *keyword)}
    return evaluator.value(defaults.get(parameter), module)


def type_name(expression: ast.expr | None) -> str:
    """The name of argparse's `type`: `int`, `json.loads`, `nullable_str`; `str` where none is given."""
    if expression is None:
        return _UNKNOWN_TYPE
    return ast.unparse(expression) if isinstance(expression, ast.Name | ast.Attribute) else _UNKNOWN_TYPE


def as_arity(nargs: Any) -> str:
    """argparse's nargs as text, "" where it is None or not known."""
    return str(nargs) if isinstance(nargs, str | int) and not isinstance(nargs, bool) else ""


def as_choices(value: Any) -> tuple[str, ...] | None:
    """Choices as text, None where there are none or they cannot be known. Sets come sorted."""
    if not isinstance(value, list | tuple | set | frozenset | dict) or not value:
        return None
    words = [str(choice) for choice in value]
    return tuple(sorted(words) if isinstance(value, set | frozenset) else words)


def as_default(value: Any) -> Default:
    """A default in JSON values, not known where it is none of them."""
    if value is UNRESOLVED:
        return Default(None, False)
    if value is None or isinstance(value, bool | int | str):
        return Default(value, True)
    if isinstance(value, float):
        return Default(value, True) if value - value == 0 else Default(None, False)
    if isinstance(value, list | tuple | set | frozenset):
        inner = [as_default(item) for item in value]
        return Default([item.value for item in inner], True) if all(i.known for i in inner) else Default(None, False)
    return Default(None, False)


def deprecation(action: ast.expr | None, texts: Mapping[str, str]) -> str:
    """What the engine says of an option that it is giving up, "" of any other."""
    marked = action is not None and "Deprecated" in ast.unparse(action)
    if texts.get("error_message"):
        return f"refused: {texts['error_message']}"
    if marked and texts.get("new_flag"):
        return f"use {texts['new_flag']}"
    if marked or texts.get("help", "").lower().lstrip("[(").startswith("deprecated"):
        return texts.get("help", "")[:200] or "deprecated"
    return ""


def _field_of(expression: ast.expr) -> str | None:
    """`x` of the default `ServerArgs.x`, of `_declared_default("x")`."""
    if isinstance(expression, ast.Attribute) and isinstance(expression.value, ast.Name):
        return expression.attr if expression.value.id in ("ServerArgs", "cls") else None
    if isinstance(expression, ast.Call) and len(expression.args) == 1:
        argument = expression.args[0]
        return argument.value if isinstance(argument, ast.Constant) and isinstance(argument.value, str) else None
    return None


def _locals(function: ast.AST) -> dict[str, ast.expr]:
    """The simple local names of a function, each as the expression last assigned to it."""
    return {
        node.targets[0].id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
