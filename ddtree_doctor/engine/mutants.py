"""Known faults, injected into the real engine: a file whose `apply()` changes SGLang before its workers start."""

from __future__ import annotations

import runpy
from importlib import resources
from pathlib import Path

from ddtree_doctor.errors import UsageError

__all__ = ["apply", "mutant_file", "mutants"]


def mutants() -> tuple[str, ...]:
    """The names of the shipped mutants."""
    folder = resources.files("ddtree_doctor.fixtures") / "mutants"
    names = (Path(entry.name) for entry in folder.iterdir() if entry.is_file())
    return tuple(sorted(name.stem for name in names if name.suffix == ".py" and not name.stem.startswith("_")))


def mutant_file(name: str) -> str:
    """The path of mutant `name`. Raises UsageError, listing those there are, if there is none."""
    if name not in mutants():
        raise UsageError(f"mutant {name}: there is no such mutant; known are {', '.join(mutants()) or 'none'}")
    return str(resources.files("ddtree_doctor.fixtures") / "mutants" / f"{name}.py")


def apply(path: str) -> None:
    """Run the file's `apply()`; nothing for an empty path."""
    if path:
        runpy.run_path(path)["apply"]()
