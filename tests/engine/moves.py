"""Moves one thing after another inside the real engine and says what the doctor makes of it. A process of its own.

Answers with two objects: reach → what `find` said once its place was gone, and field → what recording the started
workers came to once no object had it under any of its names.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from ddtree_doctor.probe.child import serve

USED_AT_START = (
    "worker's",
    "algorithm's worker",
    "decode runner's class",
    "sizes of the pools",
    "capture of one shape",
)


def moves(_: Any) -> dict[str, dict[str, str]]:
    from ddtree_doctor.engine.start import prepare, start
    from tests.engine.starts import STARTS

    job = STARTS["NGRAM"]
    prepare(job)
    with tempfile.TemporaryDirectory() as folder:
        started = start(job, Path(folder), runs=lambda runner, size: False)
    return {"reaches": dict(_reaches()), "fields": dict(_fields(started))}


def _reaches() -> Any:
    from importlib import import_module

    from ddtree_doctor.engine import seams

    for name, reach in seams.REACHES.items():
        owner: Any = None
        module, _, path = reach.places[0].partition(":")
        owner, kept = import_module(module), None
        *way, last = path.split(".")
        for part in way:
            owner = getattr(owner, part)
        kept = vars(owner)[last]
        delattr(owner, last)
        try:
            seams.find(name)
            yield name, "found"
        except seams.MovedSeam as moved:
            yield name, str(moved)
        finally:
            setattr(owner, last, kept)


def _fields(started: Any) -> Any:
    from ddtree_doctor.engine import reaches
    from ddtree_doctor.engine.record import recorded

    for name, attributes in list(reaches.FIELDS.items()):
        reaches.FIELDS[name] = ("moved_away",)  # type: ignore[index]
        try:
            ledger = recorded(started)
            yield name, " / ".join(row.unknown for row in ledger.rows if row.unknown) or "not needed"
        except Exception as error:
            yield name, f"{type(error).__name__}: {error}"
        finally:
            reaches.FIELDS[name] = attributes  # type: ignore[index]


if __name__ == "__main__":
    serve(moves)
    os._exit(0)
