"""Whose an error is: the engine's, or the doctor's own where it reaches for something that this release does not have.

Only the second kind is told apart by where it was raised: a call that does not fit, or an attribute that is not there,
in the doctor's own line. Everything raised further in, and every other error, is the engine's.
"""

from __future__ import annotations

import traceback
from pathlib import Path

from ddtree_doctor.engine import seams

__all__ = ["disown"]

_OURS = __name__.partition(".replay")[0]
"""The package of what knows the engine."""


def disown(error: BaseException) -> None:
    """Raise MovedSeam where `error` is the doctor's own, with the line that raised it; nothing otherwise."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not isinstance(error, (TypeError, AttributeError)) or not frames:
        return
    module = frames[-1].f_globals.get("__name__", "")
    if module == _OURS or module.startswith(f"{_OURS}."):
        last = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {error}; {Path(last.filename).name}:{last.lineno}"
        raise seams.MovedSeam("what the doctor calls by itself", "moved", text) from error
