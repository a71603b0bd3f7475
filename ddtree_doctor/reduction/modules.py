"""The package's own modules as source: what each defines, what it imports, and which names a definition uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path

__all__ = ["PACKAGE", "Import", "Module", "annotated_names", "global_names", "module_of", "package_imports"]

PACKAGE = "ddtree_doctor"


@dataclass(frozen=True, slots=True)
class Import:
    """What a name of a module stands for: `attribute` of `module`, the module itself where it is ""."""

    module: str
    attribute: str = ""
    statement: str = ""

    @property
    def ours(self) -> bool:
        """Whether it is of this package."""
        return self.module.split(".")[0] == PACKAGE


@dataclass(frozen=True, slots=True)
class Module:
    """A module: `definitions` by name, with a string that explains one behind it, and top-level `imports` by name."""

    name: str
    source: bytes
    tree: ast.Module
    definitions: Mapping[str, tuple[ast.stmt, ...]] = field(default_factory=dict)
    imports: Mapping[str, Import] = field(default_factory=dict)

    @property
    def about(self) -> str:
        """The first line of its docstring."""
        return (ast.get_docstring(self.tree) or "").partition("\n")[0]

    @property
    def needs(self) -> Iterator[str]:
        """The modules of the package that it imports when it is imported."""
        return (found.module for found in self.imports.values() if found.ours)


@cache
def module_of(name: str) -> Module:
    """The module of that dotted name, parsed and not imported."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise LookupError(f"module {name}: has no source here")
    source = Path(spec.origin).read_bytes()
    tree = ast.parse(source)
    imports = dict(found for statement in tree.body for found in _imported(statement))
    return Module(name=name, source=source, tree=tree, definitions=_defined(tree), imports=imports)


def package_imports(node: ast.AST) -> Iterator[tuple[ast.ImportFrom, dict[str, Import]]]:
    """The imports from this package that stand inside a definition."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.ImportFrom) and (inner.module or "").split(".")[0] == PACKAGE:
            yield inner, dict(_imported(inner))


def _imported(statement: ast.stmt) -> Iterator[tuple[str, Import]]:
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            text = f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
            yield alias.asname or alias.name.partition(".")[0], Import(alias.name, statement=text)
    elif isinstance(statement, ast.ImportFrom):
        for alias in statement.names:
            local, module = alias.asname or alias.name, statement.module or ""
            text = f"from {module} import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
            if module.split(".")[0] == PACKAGE and _is_module(f"{module}.{alias.name}"):
                yield local, Import(f"{module}.{alias.name}")
            else:
                yield local, Import(module, alias.name, text)


@cache
def _is_module(name: str) -> bool:
    parent = find_spec(name.rpartition(".")[0])
    return bool(parent and parent.submodule_search_locations and find_spec(name))


def _defined(tree: ast.Module) -> dict[str, tuple[ast.stmt, ...]]:
    found: dict[str, tuple[ast.stmt, ...]] = {}
    last: list[str] = []
    for statement in tree.body:
        names = _names_of(statement)
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            names = ()
            for name in last:
                found[name] = (*found[name], statement)
        found.update({name: (statement,) for name in names if name != "__all__"})
        last = [name for name in names if name != "__all__"]
    return found


def _names_of(statement: ast.stmt) -> tuple[str, ...]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return (statement.name,)
    if isinstance(statement, ast.Assign):
        return tuple(name.id for one in statement.targets for name in ast.walk(one) if isinstance(name, ast.Name))
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return (statement.target.id,)
    return ()


def global_names(node: ast.AST, inside: frozenset[str] = frozenset()) -> Iterator[ast.Name]:
    """The names in `node` that no function around them binds. What stands in an annotation is never evaluated."""
    if isinstance(node, ast.Name):
        if node.id not in inside:
            yield node
        return
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        outer = [*node.args.defaults, *filter(None, node.args.kw_defaults), *getattr(node, "decorator_list", ())]
        body = node.body if isinstance(node.body, list) else [node.body]
        own = inside | _bound(node)
        for child in outer:
            yield from global_names(child, inside)
        for child in body:
            yield from global_names(child, own)
        return
    if isinstance(node, ast.ClassDef):
        # What a class body binds are its attributes; the names that it reads are the module's.
        attributes = {target for part in node.body for target in _names_of(part)}
        for child in (*node.bases, *node.keywords, *node.decorator_list, *node.body):
            yield from (name for name in global_names(child, inside) if not (name.id in attributes and _stored(name)))
        return
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        targets = (name for part in node.generators for name in ast.walk(part.target))
        inside = inside.union(name.id for name in targets if isinstance(name, ast.Name))
    for label, value in ast.iter_fields(node):
        if label in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from global_names(child, inside)


def annotated_names(node: ast.AST) -> Iterator[ast.Name]:
    """The names that stand in annotations alone."""
    for inner in ast.walk(node):
        for label in ("annotation", "returns"):
            if isinstance(part := getattr(inner, label, None), ast.AST):
                yield from (name for name in ast.walk(part) if isinstance(name, ast.Name))


def _stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _bound(function: ast.FunctionDef | ast.Lambda) -> set[str]:
    """The names that a function binds itself: parameters, and what is assigned or defined in its body."""
    args = function.args
    found = {one.arg for one in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg) if one}
    waiting: list[ast.AST] = [*function.body] if isinstance(function.body, list) else [function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        waiting += ast.iter_child_nodes(node)
    return found
