"""Whose an error is: the engine's, or the doctor's own where it reaches for something that this release does not have.

Only the second kind is told apart by where it was raised: a call that does not fit, or an attribute that is not there,
in the doctor's own line. Everything raised further in, and every other error, is the engine's.
"""

from __future__ import annotations

import traceback
from pathlib import Path

from ddtree_doctor.engine import seams

__all__ = ["disown"]

_OURS = Path(seams.__file__).parent


def disown(error: BaseException) -> None:
    """Raise MovedSeam where `error` is the doctor's own, with the line that raised it; nothing otherwise."""
    frames = traceback.extract_tb(error.__traceback__)
    if not isinstance(error, (TypeError, AttributeError)) or not frames:
        return
    last = frames[-1]
    if Path(last.filename).is_relative_to(_OURS):
        text = f"{type(error).__name__}: {error}; {Path(last.filename).name}:{last.lineno}"
        raise seams.MovedSeam("what the doctor calls by itself", "moved", text) from error
