"""The text of definitions that are taken over into a flat file, with the few edits that this takes."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator, Mapping

from ddtree_doctor.reduction.flat import Flat, Place, defining, known_in
from ddtree_doctor.reduction.modules import Module, annotated_names, global_names, module_of, package_imports

__all__ = ["taken"]

Edit = tuple[int, int, bytes]
"""Bytes from, to, and what stands there instead."""


def taken(flat: Flat, modules: Collection[str], instead: Mapping[Place, str]) -> str:
    """What `flat` wants of these modules, one after the other; `instead` has other text for some of it."""
    called = flat.called()
    parts = []
    for name in flat.modules():
        if name in modules:
            module = module_of(name)
            parts.append(f"# {'-' * 3} {name.replace('.', '/')}.py: {module.about}")
            parts += _definitions(flat, module, called, instead)
    return "\n\n\n".join(parts)


def _definitions(
    flat: Flat, module: Module, called: Mapping[Place, str], instead: Mapping[Place, str]
) -> Iterator[str]:
    done = set()
    for name, statements in module.definitions.items():
        if (module.name, name) in flat.wanted and statements[0] not in done:
            done.add(statements[0])
            if (module.name, name) in instead:
                yield instead[module.name, name]
            else:
                yield "\n".join(_Text(module, statement, flat, called).edited() for statement in statements)


class _Text:
    """One statement's text."""

    def __init__(self, module: Module, statement: ast.stmt, flat: Flat, called: Mapping[Place, str]) -> None:
        self.module, self.statement, self.flat, self.called = module, statement, flat, called
        self.lines = module.source.splitlines(keepends=True)
        self.starts: list[int] = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def edited(self) -> str:
        text, (begin, end) = self.module.source, (self._from(self.statement), self._span(self.statement)[1])
        drops = list(self._drops())
        changes = (*self._renames(), *self._first_lines())
        edits = [edit for edit in changes if not any(start <= edit[0] < stop for start, stop, _ in drops)]
        for start, stop, new in sorted({*drops, *edits}, reverse=True):
            text = text[:start] + new + text[stop:]
            end += len(new) - (stop - start)
        return text[begin:end].decode().rstrip()

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        last = self.starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        return self.starts[node.lineno - 1] + node.col_offset, last

    def _from(self, statement: ast.stmt) -> int:
        """The beginning of its first line, decorators and comments before it included."""
        first: int = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", ()))]) - 1
        while first and self.lines[first - 1].lstrip().startswith(b"#"):
            first -= 1
        return self.starts[first]

    def _drops(self) -> Iterator[Edit]:
        """Imports from the package, and methods that nothing calls with the blank line before them."""
        for inner, _ in package_imports(self.statement):
            yield self._from(inner), self.starts[inner.end_lineno or 0], b""
        for part in getattr(self.statement, "body", ()):
            if part in self.flat.unused:
                start = self._from(part)
                yield start - (self.module.source[start - 2 : start] == b"\n\n"), self.starts[part.end_lineno], b""

    def _first_lines(self) -> Iterator[Edit]:
        """Docstrings cut to their first line: the rest speaks to who calls from elsewhere."""
        for node in ast.walk(self.statement):
            text = isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node)
            if text and "\n" in text:
                said = node.body[0]  # type: ignore[attr-defined]
                start = self.starts[said.lineno - 1] + len(self.lines[said.lineno - 1].rstrip())
                yield start, self._span(said)[1], b'"""'

    def _renames(self) -> Iterator[Edit]:
        name = getattr(self.statement, "name", "")
        own = self.called.get((self.module.name, name), name)
        if own != name:
            at = self.module.source.index(name.encode(), self.starts[self.statement.lineno - 1])
            yield at, at + len(name.encode()), own.encode()
        known = known_in(self.module, self.statement)
        through = {id(one.value): one for one in ast.walk(self.statement) if isinstance(one, ast.Attribute)}
        for found in global_names(self.statement):
            node: ast.expr = found
            if found.id in self.module.definitions:
                place = (self.module.name, found.id)
            elif found.id not in known or not known[found.id].ours:
                continue
            elif known[found.id].attribute:
                place = defining(known[found.id].module, known[found.id].attribute)
            else:
                node = through[id(found)]
                place = defining(known[found.id].module, through[id(found)].attr)
            if place in self.called and self.called[place] != ast.unparse(node):
                yield (*self._span(node), self.called[place].encode())
        there = {*self.called.values(), *self.flat.imports, *dir(builtins)}
        for found in annotated_names(self.statement):
            if found.id not in there:
                yield (*self._span(found), b"Any")
