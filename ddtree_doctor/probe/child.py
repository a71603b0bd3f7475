"""The child's end of a probe: says hello, takes the job, answers once. Imports nothing heavy."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any

__all__ = ["ANSWER_FD", "HELLO", "PROGRESS", "Failed", "progress", "serve"]

ANSWER_FD = "DDTREE_DOCTOR_ANSWER_FD"
HELLO = "ddtree-doctor/probe/1"
PROGRESS = b'{"progress": '
"""How a line that is no answer yet begins."""

_PR_SET_PDEATHSIG = 1
_to_parent: list[Any] = []
"""The pipe to the parent while `serve` has work to do."""


class Failed(Exception):
    """The job cannot be done; the text says why and becomes the probe's reason."""


def serve(work: Callable[[Any], Any]) -> None:
    """Say hello, do `work` on the job from standard input and answer with its result, or with why there is none.

    What `work` prints goes to the log: the answer has a pipe of its own.
    """
    _die_with_parent()
    with os.fdopen(int(os.environ.pop(ANSWER_FD)), "w", encoding="utf-8") as pipe:
        _say(pipe, HELLO)
        _to_parent.append(pipe)
        try:
            said = {"answer": work(json.loads(sys.stdin.readline()))}
        except Failed as failed:
            said = {"failed": str(failed)}
        except Exception as error:
            traceback.print_exc()
            said = {"failed": _where(error)}
        _to_parent.clear()
        _say(pipe, said)


def progress(what: str, done: int, of: int) -> None:
    """Tell the parent that `done` of `of` steps are done and `what` is next; nothing outside `serve`."""
    for pipe in _to_parent:
        _say(pipe, {"progress": [what, done, of]})


def _where(error: Exception) -> str:
    """`TypeError: … (runner.py:12)`: what was raised, first line only, and the place that raised it."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first} ({os.path.basename(frame.filename)}:{frame.lineno})"


def _say(pipe: Any, value: Any) -> None:
    pipe.write(json.dumps(value) + "\n")
    pipe.flush()


def _die_with_parent() -> None:
    """Ask Linux to kill this process if the doctor dies first; elsewhere nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
