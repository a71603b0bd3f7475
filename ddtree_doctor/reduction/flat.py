"""Several of the package's definitions, and all that they need, as the text of one flat file.

Each definition is taken over as it stands, without the methods that nothing calls. What else changes: imports from the
package go, a name that two modules define gets its module's name before it, and so does what is reached through a
module (`seams.find`: `seams_find`); what only an annotation names becomes Any.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from ddtree_doctor.reduction.modules import (
    Import,
    Module,
    annotated_names,
    global_names,
    module_of,
    package_imports,
)

__all__ = ["Flat", "Place", "defining", "flattened", "known_in"]

Place = tuple[str, str]
"""Module and name."""


@dataclass(slots=True)
class Flat:
    """What was gathered.

    `wanted` are definitions, `through_module` those of them that are reached through their module, `unused` methods
    that nothing calls, `imports` what comes from elsewhere by its name here, `strings` the texts in the definitions.
    """

    wanted: set[Place] = field(default_factory=set)
    through_module: set[Place] = field(default_factory=set)
    unused: frozenset[ast.stmt] = frozenset()
    imports: dict[str, Import] = field(default_factory=dict)
    strings: set[str] = field(default_factory=set)

    def statements(self, *, standard: bool) -> list[str]:
        """Import statements, of the standard library or of all else, one a module."""
        found = [one for one in self.imports.values() if _is_standard(one) == standard]
        plain = sorted({one.statement for one in found if not one.attribute})
        names: dict[str, set[str]] = {}
        for one in found:
            if one.attribute:
                names.setdefault(one.module, set()).add(one.statement.partition(" import ")[2])
        return plain + [f"from {module} import {', '.join(sorted(some))}" for module, some in sorted(names.items())]

    def called(self) -> dict[Place, str]:
        """The name of each definition in the flat file."""
        often = Counter(name for _, name in self.wanted)
        taken = {*self.imports, *dir(builtins)}

        def clashes(place: Place) -> bool:
            return often[place[1]] > 1 or place[1] in taken or place in self.through_module

        return {
            place: f"{place[0].rpartition('.')[2]}_{place[1]}" if clashes(place) else place[1] for place in self.wanted
        }

    def modules(self) -> list[str]:
        """The modules that something is taken from, each behind those that it imports."""
        order: dict[str, None] = {}

        def visit(name: str, above: tuple[str, ...] = ()) -> None:
            if name not in order and name not in above:
                for needed in sorted(module_of(name).needs):
                    visit(needed, (*above, name))
                order[name] = None

        names = {module for module, _ in self.wanted}
        for name in sorted(names):
            visit(name)
        return [name for name in order if name in names]


def flattened(roots: Collection[Place], *, cut: Collection[Place] = (), whole: Collection[Place] = ()) -> Flat:
    """All that the `roots` need, transitively; what those in `cut` would need is not followed.

    The roots and classes in `whole` keep every method, as do those that have a base: others call them.
    """
    unused: frozenset[ast.stmt] = frozenset()
    whole = {*whole, *roots}
    while True:
        flat = _gathered(roots, cut, unused)
        found = unused | _uncalled(flat, whole)
        if found == unused:
            return flat
        unused = found


def _gathered(roots: Collection[Place], cut: Collection[Place], unused: frozenset[ast.stmt]) -> Flat:
    flat, waiting = Flat(unused=unused), [defining(*root) for root in roots]
    while waiting:
        place = waiting.pop()
        if place not in flat.wanted:
            flat.wanted.add(place)
            waiting += () if place in cut else _needed(flat, place)
    return flat


def _needed(flat: Flat, place: Place) -> Iterator[Place]:
    module = module_of(place[0])
    for statement in _used_parts(flat, module.definitions[place[1]]):
        flat.strings |= {one.value for one in _within(flat, statement) if _is_text(one)}  # type: ignore[attr-defined]
        known = known_in(module, statement)
        for name in annotated_names(statement):
            if name.id in known and not known[name.id].ours:
                flat.imports[name.id] = known[name.id]
        reached = {id(one.value): one.attr for one in _within(flat, statement) if isinstance(one, ast.Attribute)}
        for name in global_names(statement):
            found = known.get(name.id)
            if name.id in module.definitions:
                yield module.name, name.id
            elif found is not None and not found.ours:
                flat.imports[name.id] = found
            elif found is not None:
                target = defining(found.module, found.attribute or reached[id(name)])
                flat.through_module |= set() if found.attribute else {target}
                yield target


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _used_parts(flat: Flat, statements: Collection[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements; a class without its unused methods."""
    for statement in statements:
        if isinstance(statement, ast.ClassDef) and flat.unused & set(statement.body):
            body = [part for part in statement.body if part not in flat.unused]
            yield ast.copy_location(
                ast.ClassDef(
                    name=statement.name,
                    bases=statement.bases,
                    keywords=statement.keywords,
                    body=body,
                    decorator_list=statement.decorator_list,
                ),
                statement,
            )
        else:
            yield statement


def _within(flat: Flat, statement: ast.stmt) -> Iterator[ast.AST]:
    return (node for node in ast.walk(statement) if node not in flat.unused)


def _uncalled(flat: Flat, whole: Collection[Place]) -> frozenset[ast.stmt]:
    """Methods of the gathered classes whose names no gathered definition reads from any object."""
    classes, read = [], set(flat.strings)
    for module, name in flat.wanted:
        for statement in _used_parts(flat, module_of(module).definitions[name]):
            read |= {one.attr for one in ast.walk(statement) if isinstance(one, ast.Attribute)}
            if isinstance(statement, ast.ClassDef) and not statement.bases and (module, name) not in whole:
                classes.append(statement)
    return frozenset(
        part
        for one in classes
        for part in one.body
        if isinstance(part, ast.FunctionDef) and part.name not in read and not part.name.startswith("__")
    )


def known_in(module: Module, statement: ast.stmt) -> dict[str, Import]:
    """What the module's imports, and the statement's own from the package, stand for."""
    known = dict(module.imports)
    for _, inner in package_imports(statement):
        known |= inner
    return known


def defining(module: str, name: str) -> Place:
    """Where a name that a module hands on is defined."""
    found = module_of(module)
    if name in found.definitions:
        return module, name
    return defining(found.imports[name].module, found.imports[name].attribute)


def _is_standard(found: Import) -> bool:
    return found.module.split(".")[0] in sys.stdlib_module_names
