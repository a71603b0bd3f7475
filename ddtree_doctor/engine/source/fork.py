"""Whether the engine is a plain release or somebody's own: told by what differs, not by how it was installed.

The published container images install a release from its own checkout, so a source tree alone is no reason. A version
between releases, another repository, another commit than the tag, and files that the wheel did not bring are.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from ddtree_doctor.engine.source.locate import PACKAGE, Distribution
from ddtree_doctor.engine.source.tree import SourceTree

__all__ = ["fork_reasons"]

_UPSTREAM = "sgl-project/sglang"
_REMOTE = re.compile(r"^[ \t]*url[ \t]*=[ \t]*(\S+)", re.MULTILINE)
_MOST_LISTED = 5
_LEVELS_UP = 2


def fork_reasons(tree: SourceTree, distribution: Distribution) -> tuple[str, ...]:
    """Why this engine is no plain release, in words; empty where nothing speaks against it."""
    return tuple(_reasons(tree, distribution))


def _reasons(tree: SourceTree, distribution: Distribution) -> Iterator[str]:
    version = distribution.version
    if "+" in version or ".dev" in version:
        yield f"version {version} is no release"
    repository = _repository(tree.root)
    if repository is not None:
        yield from _of_repository(tree, repository, version)
    if distribution.folder is None:
        yield "it is no installed distribution"
        return
    yield from _of_origin(tree.text(f"{distribution.folder}/direct_url.json"))
    record = tree.text(f"{distribution.folder}/RECORD")
    if record is not None and repository is None:
        yield from _against_record(tree, dict(_recorded(record)))


def _of_origin(text: str | None) -> Iterator[str]:
    """What pip wrote down of an installation from a repository's address."""
    try:
        origin = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return
    if isinstance(origin, dict) and "vcs_info" in origin and _UPSTREAM not in str(origin.get("url")):
        yield f"it was installed from {_address(str(origin.get('url')))}"


def _of_repository(tree: SourceTree, repository: Path, version: str) -> Iterator[str]:
    remotes = _REMOTE.findall(tree.text(str(repository / "config")) or "")
    if remotes and not any(_UPSTREAM in remote for remote in remotes):
        yield f"its repository is a clone of {_address(remotes[0])}"
    tag, head = _packed(tree, repository, f"refs/tags/v{version}"), _head(tree, repository)
    if tag and head and tag != head:
        yield f"it is commit {head[:10]}, not that of the tag v{version}"


def _against_record(tree: SourceTree, recorded: dict[str, str]) -> Iterator[str]:
    """Files that were read and that the wheel's RECORD lists with another hash, or not at all."""
    changed, added = [], []
    for path, stamp in sorted(tree.stamps.items()):
        if stamp.digest and path.endswith(".py"):
            known = recorded.get(f"{PACKAGE}/{path}")
            if known is None:
                added.append(path)
            elif known and known != stamp.digest:
                changed.append(path)
    yield from _listed("changed since it was installed", changed)
    yield from _listed("added since it was installed", added)


def _listed(state: str, paths: list[str]) -> Iterator[str]:
    if paths:
        more = f" and {len(paths) - _MOST_LISTED} more" if len(paths) > _MOST_LISTED else ""
        yield f"{state}: {', '.join(paths[:_MOST_LISTED])}{more}"


def _recorded(record: str) -> Iterator[tuple[str, str]]:
    """(path, hexadecimal sha256) of each line of RECORD; "" where a line carries another hash or none."""
    for line in record.splitlines():
        path, _, rest = line.partition(",")
        digest = rest.partition(",")[0]
        if path.startswith(f"{PACKAGE}/"):
            encoded = digest.removeprefix("sha256=") if digest.startswith("sha256=") else ""
            try:
                yield path, urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).hex()
            except ValueError:
                yield path, ""


def _repository(root: Path) -> Path | None:
    """The `.git` folder of the checkout that the package lies in."""
    candidates = (folder / ".git" for folder in list(root.parents)[:_LEVELS_UP])
    return next((folder for folder in candidates if folder.is_dir()), None)


def _head(tree: SourceTree, repository: Path) -> str:
    """The commit that is checked out, "" where it cannot be told."""
    text = (tree.text(str(repository / "HEAD")) or "").strip()
    ref = text.removeprefix("ref: ")
    if ref == text or ".." in ref:
        return "" if ".." in ref else text
    return (tree.text(str(repository / ref)) or "").strip() or _packed(tree, repository, ref)


def _packed(tree: SourceTree, repository: Path, ref: str) -> str:
    """The commit that a packed ref names, an annotated tag as the commit it points to; "" where it is not packed.

    A loose tag is not asked: it may name a tag object, which only git itself can follow.
    """
    lines = (tree.text(str(repository / "packed-refs")) or "").splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=False):
        if line.endswith(f" {ref}"):
            return following[1:] if following.startswith("^") else line.partition(" ")[0]
    return ""


def _address(url: str) -> str:
    """Host and path of an address, without a login."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "another repository"
    return f"{parts.hostname or ''}{parts.path}"[:120] if parts.scheme else url.rpartition("@")[2][:120]
