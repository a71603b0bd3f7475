"""Known faults, injected into the real engine: a file whose `apply()` changes SGLang before its workers start."""

from __future__ import annotations

import runpy
from importlib import resources
from pathlib import Path

from ddtree_doctor.errors import UsageError

__all__ = ["apply", "gpu_mutants", "mutant_file", "mutants"]

_GPU = "gpu/"


def mutants() -> tuple[str, ...]:
    """The names of the shipped mutants that show on any machine."""
    return _named("")


def gpu_mutants() -> tuple[str, ...]:
    """The names of those that only a GPU shows, such as `gpu/wild_kv_indices`."""
    return tuple(f"{_GPU}{name}" for name in _named(_GPU))


def _named(below: str) -> tuple[str, ...]:
    folder = resources.files("ddtree_doctor.fixtures") / "mutants" / below
    names = (Path(entry.name) for entry in folder.iterdir() if entry.is_file())
    return tuple(sorted(name.stem for name in names if name.suffix == ".py" and not name.stem.startswith("_")))


def mutant_file(name: str) -> str:
    """The path of mutant `name`. Raises UsageError, listing those there are, if there is none."""
    known = (*mutants(), *gpu_mutants())
    if name not in known:
        raise UsageError(f"mutant {name}: there is no such mutant; known are {', '.join(known)}")
    return str(resources.files("ddtree_doctor.fixtures") / "mutants" / f"{name}.py")


def apply(path: str) -> None:
    """Run the file's `apply()`; nothing for an empty path."""
    if path:
        runpy.run_path(path)["apply"]()
