"""Where the engine's package lies, and what its distribution says of it. Found, never imported."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ddtree_doctor.engine.source.evaluate import literal
from ddtree_doctor.engine.source.tree import SourceTree
from ddtree_doctor.errors import UsageError
from ddtree_doctor.facts.packages import installed
from ddtree_doctor.facts.requirements import pins

__all__ = ["PACKAGE", "UNVERSIONED", "Distribution", "describe", "locate"]

PACKAGE = "sglang"
UNVERSIONED = "unversioned"
"""Not a version: whoever compares with it finds that it cannot be compared."""

_MARK = "srt"
_VERSION_FILES = ("_version.py", "version.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """What is known of the engine as a distribution.

    `folder` is its metadata folder, None for a bare source tree; then `version` is that of its version file, or
    UNVERSIONED: a checkout that was never built does not know which release it comes from.
    """

    version: str
    folder: str | None = None
    pins: dict[str, str]


def locate(root: Path | None) -> Path | None:
    """The package folder: that of this environment, or the one in `root` (the package, its parent, a repository).

    None where none is installed. Raises UsageError where `root` holds none.
    """
    if root is None:
        return _in_environment()
    for candidate in (root, root / PACKAGE, root / "python" / PACKAGE):
        if (candidate / _MARK).is_dir():
            return candidate.resolve()
    raise UsageError(
        f"--sglang {str(root)[:200]!r}: no {PACKAGE} package there; give the folder that holds {PACKAGE}/{_MARK}"
    )


def describe(tree: SourceTree) -> Distribution:
    """Version and pins of the engine in `tree`, from its metadata folder, else from its version file."""
    folder, version = _metadata_of(tree.root)
    if folder is None:
        return Distribution(version=_version_in(tree), pins={})
    headers = (tree.text(f"{folder}/METADATA") or "").partition("\n\n")[0]
    return Distribution(version=version, folder=folder, pins=pins(headers))


def _in_environment() -> Path | None:
    try:
        spec = find_spec(PACKAGE)
    except (ImportError, ValueError):
        return None
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return next((Path(folder) for folder in folders if (Path(folder) / _MARK).is_dir()), None)


def _metadata_of(root: Path) -> tuple[str | None, str]:
    """(metadata folder, version): beside the package, else that of an editable install of this very package."""
    beside = installed([str(root.parent)])
    if PACKAGE in beside:
        version, site = beside[PACKAGE]
        return _folder_name(site, version), version
    anywhere = installed()
    if PACKAGE in anywhere and _in_environment() == root:
        version, site = anywhere[PACKAGE]
        return _folder_name(site, version), version
    return None, ""


def _folder_name(site: Path, version: str) -> str:
    return str(site.resolve() / f"{PACKAGE}-{version}.dist-info")


def _version_in(tree: SourceTree) -> str:
    for name in _VERSION_FILES:
        module = tree.module(name)
        # Top level alone: deeper down stands what version.py answers where it finds no version at all.
        for statement in module.tree.body if module else ():
            if isinstance(statement, ast.Assign) and any(_is_version(target) for target in statement.targets):
                value = literal(statement.value)
                if isinstance(value, str) and value:
                    return value
    return UNVERSIONED


def _is_version(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id in ("__version__", "version")
