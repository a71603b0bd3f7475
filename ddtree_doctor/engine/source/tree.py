"""The engine's package as files: each read and parsed at most once, and remembered for the cache's key.

Nothing here imports the engine. Every look at the file system is recorded, misses and listings included, so that the
same answers can later be known to hold by a few `stat` calls (`cache`).
"""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Definition", "Module", "SourceTree", "Stamp"]

LARGEST_FILE = 8 * 1024 * 1024

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a path was when it was read. `digest` is of a file's bytes or a folder's listing, "" where it is absent."""

    size: int
    mtime_ns: int
    digest: str


@dataclass(slots=True)
class Module:
    """One parsed source file. `path` is relative to the package, with `/`."""

    path: str
    tree: ast.Module
    _statements: dict[str, list[ast.stmt]] = field(default_factory=dict)

    def find(self, dotted: str) -> Definition | None:
        """The class or function at a dotted path (`ServerArgs.add_cli_args`), also under `if` or `try`; else None."""
        body: list[ast.stmt] = self.tree.body
        found: Definition | None = None
        for name in dotted.split("."):
            found = next((node for node in definitions(body) if node.name == name), None)
            if found is None:
                return None
            body = found.body
        return found

    def assigned(self, name: str) -> ast.expr | None:
        """The value of the last assignment to the module's global `name`, None if there is none."""
        if not self._statements:
            self._index()
        for statement in reversed(self._statements.get(name, [])):
            if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
                return statement.value
        return None

    def imported(self, name: str) -> tuple[str, str] | None:
        """(dotted module, name there) of what a `from … import …` at module level binds to `name`, else None."""
        if not self._statements:
            self._index()
        for statement in reversed(self._statements.get(name, [])):
            if isinstance(statement, ast.ImportFrom):
                return _origin(statement, name, self.path)
        return None

    def _index(self) -> None:
        for statement in flat(self.tree.body):
            for name in _bound(statement):
                self._statements.setdefault(name, []).append(statement)


class SourceTree:
    """The package folder `root` (the one named `sglang`). Broken files are kept in `broken` with their reason."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.stamps: dict[str, Stamp] = {}
        self.broken: dict[str, str] = {}
        self._texts: dict[str, str | None] = {}
        self._modules: dict[str, Module | None] = {}

    def text(self, path: str) -> str | None:
        """The text of a file, None where there is none that can be read."""
        if path not in self._texts:
            data, self.stamps[path] = read_stamped(self.root / path)
            self._texts[path] = None if data is None else data.decode("utf-8", "replace")
        return self._texts[path]

    def module(self, path: str) -> Module | None:
        """The parsed file, None where it is absent or Python cannot parse it."""
        if path not in self._modules:
            self._modules[path] = self._parse(path)
        return self._modules[path]

    def names(self, folder: str) -> tuple[str, ...]:
        """The names in a folder, sorted; empty where there is none."""
        listed, self.stamps[f"{folder}/"] = list_stamped(self.root / folder)
        return listed

    def resolve(self, dotted: str) -> Module | None:
        """The module of a dotted name below the package (`sglang.srt.server_args`), None for any other."""
        package, _, rest = dotted.partition(".")
        if package != self.root.name or not rest:
            return None
        path = rest.replace(".", "/")
        return self.module(f"{path}.py") or self.module(f"{path}/__init__.py")

    def _parse(self, path: str) -> Module | None:
        text = self.text(path)
        if text is None:
            return None
        try:
            return Module(path, ast.parse(text))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as fault:
            line = f", line {fault.lineno}" if isinstance(fault, SyntaxError) and fault.lineno else ""
            self.broken[path] = f"{path}{line}: {fault.msg if isinstance(fault, SyntaxError) else type(fault).__name__}"
            return None


def flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of `body` and of the `if`, `try` and `with` blocks in it, in order."""
    for statement in body:
        yield statement
        for name in ("body", "handlers", "orelse", "finalbody"):
            if isinstance(statement, ast.If | ast.Try | ast.With):
                for inner in getattr(statement, name, []):
                    yield from flat(inner.body if isinstance(inner, ast.ExceptHandler) else [inner])


def definitions(body: list[ast.stmt]) -> Iterator[Definition]:
    """The classes and functions that `body` defines."""
    return (node for node in flat(body) if isinstance(node, Definition))


def read_stamped(path: Path) -> tuple[bytes | None, Stamp]:
    """A file's bytes with its stamp; None with an empty stamp where it cannot be read."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_size > LARGEST_FILE:
                return None, Stamp(0, 0, "")
            data = file.read()
    except (OSError, ValueError):
        return None, Stamp(0, 0, "")
    return data, Stamp(status.st_size, status.st_mtime_ns, hashlib.sha256(data).hexdigest())


def list_stamped(path: Path) -> tuple[tuple[str, ...], Stamp]:
    """A folder's names, sorted, with its stamp."""
    try:
        mtime = path.stat().st_mtime_ns
        names = tuple(sorted(name for name in os.listdir(path) if name != "__pycache__"))
    except (OSError, ValueError):
        return (), Stamp(0, 0, "")
    return names, Stamp(len(names), mtime, hashlib.sha256("\0".join(names).encode("utf-8", "replace")).hexdigest())


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.Assign):
        targets: list[ast.expr] = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    elif isinstance(statement, ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in statement.names)
        return
    else:
        return
    yield from (target.id for target in targets if isinstance(target, ast.Name))


def _origin(statement: ast.ImportFrom, name: str, path: str) -> tuple[str, str] | None:
    alias = next(alias for alias in statement.names if (alias.asname or alias.name) == name)
    if statement.level:
        above = ["sglang", *path.split("/")[: -statement.level]]
        return ".".join([*above, *([statement.module] if statement.module else [])]), alias.name
    return None if statement.module is None else (statement.module, alias.name)
