"""Where the engine's package lies, and what its distribution says of it. Found, never imported."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ddtree_doctor.engine.source.evaluate import literal
from ddtree_doctor.engine.source.tree import SourceTree
from ddtree_doctor.errors import UsageError
from ddtree_doctor.facts.packages import installed
from ddtree_doctor.facts.requirements import pins

__all__ = ["PACKAGE", "Distribution", "describe", "fork_reasons", "locate"]

PACKAGE = "sglang"
_MARK = "srt"
_VERSION_FILES = ("_version.py", "version.py")
_UNVERSIONED = "0.0.0.dev0"
"""What sglang's own version.py answers where neither metadata nor a version file is there."""

_MOST_LISTED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """What is known of the engine as a distribution. `folder` is its metadata folder, None for a bare source tree."""

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


def fork_reasons(tree: SourceTree, distribution: Distribution) -> tuple[str, ...]:
    """Why this engine is no plain release; empty where it is one.

    A release is installed from a wheel whose RECORD lists every file that was read, with the hash that it has.
    """
    return tuple(_reasons(tree, distribution))


def _reasons(tree: SourceTree, distribution: Distribution) -> Iterator[str]:
    version = distribution.version
    if "+" in version or ".dev" in version:
        yield f"version {version} is no release"
    if _repository(tree.root) is not None:
        yield "it lies in a git repository"
    if distribution.folder is None:
        yield "it is no installed distribution"
        return
    origin = tree.text(f"{distribution.folder}/direct_url.json")
    if origin is not None and _is_checkout(origin):
        yield "it was installed from a source tree"
        return
    yield from _changed_files(tree, distribution.folder)


def _changed_files(tree: SourceTree, folder: str) -> Iterator[str]:
    record = tree.text(f"{folder}/RECORD")
    if record is None:
        return
    recorded = dict(_recorded(record))
    for state, names in _against_record(tree, recorded).items():
        if names:
            more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
            yield f"{state}: {', '.join(names[:_MOST_LISTED])}{more}"


def _against_record(tree: SourceTree, recorded: dict[str, str]) -> dict[str, list[str]]:
    states: dict[str, list[str]] = {"changed since it was installed": [], "added since it was installed": []}
    for path, stamp in sorted(tree.stamps.items()):
        if not stamp.digest or path.endswith("/") or not path.endswith(".py"):
            continue
        known = recorded.get(f"{PACKAGE}/{path}")
        if known is None:
            states["added since it was installed"].append(path)
        elif known and known != stamp.digest:
            states["changed since it was installed"].append(path)
    return states


def _recorded(record: str) -> Iterator[tuple[str, str]]:
    """(path, hexadecimal sha256) of each line of RECORD; "" where a line carries another hash or none."""
    from base64 import urlsafe_b64decode

    for line in record.splitlines():
        path, _, rest = line.partition(",")
        digest = rest.partition(",")[0]
        if path.startswith(f"{PACKAGE}/"):
            encoded = digest.removeprefix("sha256=") if digest.startswith("sha256=") else ""
            try:
                yield path, urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).hex()
            except ValueError:
                yield path, ""


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
        for statement in ast.walk(module.tree) if module else ():
            if isinstance(statement, ast.Assign) and any(_is_version(target) for target in statement.targets):
                value = literal(statement.value)
                if isinstance(value, str) and value:
                    return value
    return _UNVERSIONED


def _is_version(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id in ("__version__", "version")


def _repository(root: Path) -> Path | None:
    return next((folder for folder in list(root.parents)[:3] if (folder / ".git").exists()), None)


def _is_checkout(origin: str) -> bool:
    try:
        parsed = json.loads(origin)
    except ValueError:
        return False
    return isinstance(parsed, dict) and ("dir_info" in parsed or "vcs_info" in parsed)
