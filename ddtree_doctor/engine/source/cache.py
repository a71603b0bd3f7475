"""Facts of an engine kept between runs, valid for exactly the files that they were read from.

An entry lists every path that was looked at with its size, time and content digest. It holds while all sizes and times
are the same; where a time differs the content decides. The reader's own source is part of the entry's name, so that
another version of the doctor never takes it. Whatever goes wrong with the cache, the engine is read anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ddtree_doctor.contract import layout
from ddtree_doctor.engine import reaches
from ddtree_doctor.engine.source.tree import Stamp, list_stamped, read_stamped
from ddtree_doctor.facts import model, requirements
from ddtree_doctor.facts.model import Engine, Option, Seam

__all__ = ["Cache", "cache_folder"]

_MOST_ENTRIES = 24


def cache_folder() -> Path:
    """`ddtree-doctor` in the user's cache directory (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return Path(base if os.path.isabs(base) else os.path.expanduser("~/.cache")) / "ddtree-doctor"


class Cache:
    """The cache of one engine, the package folder `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = cache_folder() / f"engine-{_name(root)}.json"

    def load(self) -> Engine | None:
        """The facts kept for exactly the files that are there now, None where there are none."""
        try:
            kept = json.loads(self.path.read_bytes())
            stamps = {path: Stamp(*stamp) for path, stamp in kept["stamps"].items()}
            engine = _engine(kept["engine"])
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None
        moved = [path for path, stamp in stamps.items() if not _untouched(self.root / path, stamp)]
        if not moved:
            return engine
        now = {path: _stamped(self.root, path) for path in moved}
        if any(now[path].digest != stamps[path].digest for path in moved):
            return None
        self.store(engine, {**stamps, **now})
        return engine

    def store(self, engine: Engine, stamps: Mapping[str, Stamp]) -> None:
        """Keep `engine`, read from the files of `stamps`. A cache that cannot be written is none."""
        listed = {path: (stamp.size, stamp.mtime_ns, stamp.digest) for path, stamp in stamps.items()}
        text = json.dumps({"stamps": listed, "engine": asdict(engine)}, separators=(",", ":"))
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _replace(self.path, text.encode())
            _prune(self.path.parent)


def _name(root: Path) -> str:
    """Digest of where the engine lies, who reads it and in which Python."""
    modules = (layout.__file__, reaches.__file__, model.__file__, requirements.__file__)
    folder = Path(__file__).parent
    readers = [*(Path(str(path)) for path in modules), *sorted(folder.glob("*.py"))]
    parts = [str(root), sys.version, *(f"{path.name} {_size_and_time(path)}" for path in readers)]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _size_and_time(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return 0, 0
    return status.st_size, status.st_mtime_ns


def _untouched(path: Path, stamp: Stamp) -> bool:
    size, mtime = _size_and_time(path)
    return mtime == stamp.mtime_ns and (size == stamp.size or path.is_dir())


def _stamped(root: Path, path: str) -> Stamp:
    read: Callable[[Path], tuple[Any, Stamp]] = list_stamped if path.endswith("/") else read_stamped
    return read(root / path)[1]


def _replace(path: Path, data: bytes) -> None:
    """Write `data` so that a reader sees the old file or the new one, never a part."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".engine-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except OSError:
        os.unlink(name)
        raise


def _prune(folder: Path) -> None:
    """Leave the newest entries: every folder that an engine was ever read from would stay otherwise."""
    entries = sorted(folder.glob("engine-*.json"), key=lambda path: -path.stat().st_mtime_ns)
    for path in entries[_MOST_ENTRIES:]:
        path.unlink()


def _engine(kept: Mapping[str, Any]) -> Engine:
    """The facts as they were: JSON has lists alone, the facts are tuples."""
    fields = {**kept, "options": tuple(_options(kept["options"])), "seams": tuple(Seam(**s) for s in kept["seams"])}
    for name in ("algorithms", "plugins"):
        fields[name] = tuple(kept[name])
    fields["traits"] = {name: tuple(v) if isinstance(v, list) else v for name, v in kept["traits"].items()}
    return Engine(**fields)


def _options(kept: list[dict[str, Any]]) -> Iterator[Option]:
    for option in kept:
        choices = option["choices"]
        tuples = {"options": tuple(option["options"]), "choices": None if choices is None else tuple(choices)}
        yield Option(**{**option, **tuples})
