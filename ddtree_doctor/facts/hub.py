"""The local Hugging Face hub cache: where a repository's config.json lies, without the network or huggingface_hub.

Layout: `models--<org>--<name>/refs/main` holds the commit, `snapshots/<commit>/` the files
(https://huggingface.co/docs/huggingface_hub/guides/manage-cache).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ["cached_config", "hub_cache", "is_repository"]

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)?", re.ASCII)
_REVISION = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)*", re.ASCII)
_MOST_SNAPSHOTS = 1000
_LONGEST_REF = 256


def hub_cache(environment: Mapping[str, str] | None = None) -> Path:
    """The cache's folder, from the variables that huggingface_hub obeys, the most specific first."""
    env = os.environ if environment is None else environment
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if env.get(variable):
            return _home(env[variable])
    if env.get("HF_HOME"):
        return _home(env["HF_HOME"]) / "hub"
    return _home(env.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface" / "hub"


def _home(path: str) -> Path:
    # Path.expanduser raises where there is no home; this leaves the text as it is.
    return Path(os.path.expanduser(path))


def is_repository(name: str) -> bool:
    """Whether `name` has the form of a repository (`org/name` or `name`), and so can be in the cache."""
    return len(name) <= 200 and ".." not in name and _REPOSITORY.fullmatch(name) is not None


def cached_config(name: str, cache: Path, revision: str = "main") -> Path | None:
    """The config.json of repository `name` in `cache`: that of `revision`, else of the newest snapshot, else None."""
    if not is_repository(name) or ".." in revision or not _REVISION.fullmatch(revision):
        return None
    repository = cache / f"models--{name.replace('/', '--')}"
    commit = _ref(repository / "refs" / revision) or revision
    candidates = (repository / "snapshots" / commit / "config.json", *_newest_first(repository / "snapshots"))
    return next((path for path in candidates if _exists(path)), None)


def _ref(path: Path) -> str:
    """The commit that a ref holds, "" where there is none that could be the name of a folder."""
    try:
        with path.open("rb") as file:
            text = file.read(_LONGEST_REF).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return text if text.isalnum() else ""


def _newest_first(snapshots: Path) -> Iterator[Path]:
    try:
        folders = [entry for entry, _ in zip(os.scandir(snapshots), range(_MOST_SNAPSHOTS), strict=False)]
        folders.sort(key=lambda entry: (-entry.stat().st_mtime_ns, entry.name))
    except OSError:
        return
    for folder in folders:
        yield Path(folder.path) / "config.json"


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False
