"""What an expression in the engine's source comes to, as far as that can be known without running it.

Literals, constants by name through imports, lists put together, members of enums, and functions that only return such.
Anything else is UNRESOLVED: a choice list that cannot be known is treated as none, never guessed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from ddtree_doctor.engine.source.tree import Definition, Module, SourceTree, flat

__all__ = ["UNRESOLVED", "Evaluator", "literal"]

UNRESOLVED: Final = object()
DEEPEST = 24
LONGEST = 4096


def literal(expression: ast.expr | None) -> Any:
    """The value of a plain literal, UNRESOLVED for all else."""
    if expression is None:
        return UNRESOLVED
    try:
        return ast.literal_eval(expression)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return UNRESOLVED


class Evaluator:
    """Evaluates expressions of the modules of one source tree."""

    def __init__(self, tree: SourceTree) -> None:
        self.tree = tree

    def value(self, expression: ast.expr | None, module: Module, scope: Mapping[str, ast.expr] | None = None) -> Any:
        """The value of `expression` in `module`; `scope` holds local names. UNRESOLVED where it cannot be known."""
        return self._value(expression, module, dict(scope or {}), DEEPEST)

    def definition(self, name: str, module: Module) -> tuple[Definition, Module] | None:
        """The class or function that `name` stands for in `module`, followed through imports, with its own module."""
        for _ in range(DEEPEST):
            found = module.find(name)
            if found is not None:
                return found, module
            origin = module.imported(name)
            target = self.tree.resolve(origin[0]) if origin else None
            if origin is None or target is None:
                return None
            module, name = target, origin[1]
        return None

    def _value(self, node: ast.expr | None, module: Module, scope: dict[str, Any], depth: int) -> Any:
        if node is None or depth <= 0:
            return UNRESOLVED
        plain = literal(node)
        if isinstance(plain, set):
            # The order of a set changes with every process; facts must not.
            return sorted(plain, key=repr)
        if plain is not UNRESOLVED:
            return plain
        read = _READERS.get(type(node))
        return UNRESOLVED if read is None else read(self, node, module, scope, depth - 1)

    def _name(self, node: ast.Name, module: Module, scope: dict[str, Any], depth: int) -> Any:
        if node.id in scope:
            local = scope[node.id]
            return self._value(local, module, scope, depth) if isinstance(local, ast.expr) else local
        found = module.assigned(node.id)
        if found is not None:
            return self._value(found, module, {}, depth)
        origin = module.imported(node.id)
        target = self.tree.resolve(origin[0]) if origin else None
        if origin is None or target is None:
            return UNRESOLVED
        return self._value(ast.Name(origin[1]), target, {}, depth)

    def _attribute(self, node: ast.Attribute, module: Module, scope: dict[str, Any], depth: int) -> Any:
        """A member of an enum class as its value, or a class attribute."""
        if not isinstance(node.value, ast.Name):
            return UNRESOLVED
        found = self.definition(node.value.id, module)
        if found is None or not isinstance(found[0], ast.ClassDef):
            return UNRESOLVED
        members = class_values(found[0])
        return self._value(members.get(node.attr), found[1], dict(members), depth)

    def _keys(self, node: ast.Dict, module: Module, scope: dict[str, Any], depth: int) -> Any:
        """A dictionary as its keys alone: the values are often classes."""
        keys = [self._value(key, module, scope, depth) for key in node.keys]
        return UNRESOLVED if UNRESOLVED in keys else dict.fromkeys(keys)

    def _item(self, node: ast.Subscript, module: Module, scope: dict[str, Any], depth: int) -> Any:
        sequence, index = self._value(node.value, module, scope, depth), literal(node.slice)
        if not isinstance(sequence, list | tuple) or not isinstance(index, int) or index >= len(sequence):
            return UNRESOLVED
        return sequence[index] if index >= -len(sequence) else UNRESOLVED

    def _lambda(self, node: ast.Lambda, module: Module, scope: dict[str, Any], depth: int) -> Any:
        return self._value(node.body, module, scope, depth)

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set, module: Module, scope: dict[str, Any], depth: int) -> Any:
        items: list[Any] = []
        for element in node.elts:
            starred = isinstance(element, ast.Starred)
            item = self._value(element.value if isinstance(element, ast.Starred) else element, module, scope, depth)
            if item is UNRESOLVED or (starred and not isinstance(item, Iterable)):
                return UNRESOLVED
            items.extend(item if starred else [item])
        return items

    def _binary(self, node: ast.BinOp, module: Module, scope: dict[str, Any], depth: int) -> Any:
        left, right = (self._value(side, module, scope, depth) for side in (node.left, node.right))
        if isinstance(node.op, ast.Add | ast.BitOr) and all(isinstance(side, Collection) for side in (left, right)):
            return [*left, *right]
        if not all(isinstance(side, int | float) for side in (left, right)):
            return UNRESOLVED
        if isinstance(node.op, ast.Mult):
            return left * right if abs(left) < LONGEST**3 and abs(right) < LONGEST**3 else UNRESOLVED
        return left + right if isinstance(node.op, ast.Add) else UNRESOLVED

    def _call(self, node: ast.Call, module: Module, scope: dict[str, Any], depth: int) -> Any:
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("keys", "copy") and not node.args:
            return self._value(node.func.value, module, scope, depth)
        if not isinstance(node.func, ast.Name):
            return UNRESOLVED
        if node.func.id in ("list", "tuple", "set", "frozenset", "sorted"):
            return self._collected(node, module, scope, depth)
        return self._returned(node.func.id, module, depth)

    def _collected(self, node: ast.Call, module: Module, scope: dict[str, Any], depth: int) -> Any:
        if not node.args:
            return []
        inner = self._value(node.args[0], module, scope, depth)
        if inner is UNRESOLVED and isinstance(node.args[0], ast.Name):
            inner = self._members(node.args[0].id, module, depth)
        return list(inner) if isinstance(inner, Collection) else UNRESOLVED

    def _members(self, name: str, module: Module, depth: int) -> Any:
        """The values of an enum that is iterated over."""
        found = self.definition(name, module)
        if found is None or not isinstance(found[0], ast.ClassDef):
            return UNRESOLVED
        values = [self._value(value, found[1], {}, depth) for value in class_values(found[0]).values()]
        return UNRESOLVED if UNRESOLVED in values else values

    def _returned(self, name: str, module: Module, depth: int) -> Any:
        """What a function of this source returns last, if nothing but local names and imports lead to it."""
        found = self.definition(name, module)
        if found is None or isinstance(found[0], ast.ClassDef):
            return UNRESOLVED
        function, home = found
        returns = [statement for statement in function.body if isinstance(statement, ast.Return)]
        inside = Module(home.path, ast.Module([*home.tree.body, *flat(function.body)], []))
        return self._value(returns[-1].value, inside, {}, depth) if returns else UNRESOLVED

    def _comprehension(self, node: ast.ListComp, module: Module, scope: dict[str, Any], depth: int) -> Any:
        """`[m.name.lower() for m in Enum]` and `[m.value for m in Enum]`, the two forms in use."""
        if len(node.generators) != 1 or node.generators[0].ifs:
            return UNRESOLVED
        over, shape = node.generators[0].iter, ast.unparse(node.elt).partition(".")[2]
        enum = self._enum(over, module, depth)
        if enum is None or shape not in _MEMBER_SHAPES:
            return UNRESOLVED
        values = class_values(enum[0])
        if shape == "value":
            found = [self._value(value, enum[1], {}, depth) for value in values.values()]
            return UNRESOLVED if UNRESOLVED in found else found
        return [_MEMBER_SHAPES[shape](name) for name in values]

    def _enum(self, over: ast.expr, module: Module, depth: int) -> tuple[ast.ClassDef, Module] | None:
        """The class that is iterated over: named, or the list of whose members a function returns."""
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Name):
            if over.func.id == "list" and over.args:
                return self._enum(over.args[0], module, depth)
            called = self.definition(over.func.id, module)
            if called is None or isinstance(called[0], ast.ClassDef) or depth <= 0:
                return None
            inside = Module(called[1].path, ast.Module([*called[1].tree.body, *flat(called[0].body)], []))
            returned = [s.value for s in called[0].body if isinstance(s, ast.Return) and s.value is not None]
            return self._enum(returned[-1], inside, depth - 1) if returned else None
        found = self.definition(over.id, module) if isinstance(over, ast.Name) else None
        return (found[0], found[1]) if found and isinstance(found[0], ast.ClassDef) else None


Collection: Final = (list, tuple, set, frozenset, dict)

_MEMBER_SHAPES: Mapping[str, Callable[[str], str]] = {
    "value": str,
    "name": str,
    "name.lower()": str.lower,
    "name.upper()": str.upper,
}


def class_values(found: ast.ClassDef) -> dict[str, ast.expr]:
    """Name → value expression of a class's plain assignments, in order: the members of an enum."""
    values: dict[str, ast.expr] = {}
    for statement in found.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            values[statement.targets[0].id] = statement.value
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
            values[statement.target.id] = statement.value
    return values


_READERS: Mapping[type, Any] = {
    ast.Name: Evaluator._name,
    ast.Attribute: Evaluator._attribute,
    ast.List: Evaluator._sequence,
    ast.Tuple: Evaluator._sequence,
    ast.Set: Evaluator._sequence,
    ast.BinOp: Evaluator._binary,
    ast.Call: Evaluator._call,
    ast.ListComp: Evaluator._comprehension,
    ast.Dict: Evaluator._keys,
    ast.Subscript: Evaluator._item,
    ast.Lambda: Evaluator._lambda,
}
