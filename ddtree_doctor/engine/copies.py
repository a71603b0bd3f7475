"""Work done in forked copies of this process, so that none leaves a trace in it or in the next.

Most of a probe's time goes to importing SGLang and resolving arguments. Until the first worker is started the process
has no threads of its own that a fork would lose.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ddtree_doctor.probe.child import Failed

__all__ = ["in_copies"]

_CHUNK = 1 << 16


@dataclass(slots=True)
class _Copy:
    """One forked process: which work it does, its id, and what it has said so far."""

    at: int
    process: int
    said: bytearray = field(default_factory=bytearray)


def in_copies(works: Sequence[Callable[[], Any]], *, at_once: int = 1) -> list[dict[str, Any]]:
    """For each work `{"answer": its result}` or `{"failed": why}`, each done in a copy, `at_once` at a time."""
    waiting, said = deque(enumerate(works)), [dict[str, Any]()] * len(works)
    with selectors.DefaultSelector() as pipes:
        while waiting or pipes.get_map():
            while waiting and len(pipes.get_map()) < at_once:
                pipe, copy = _forked(*waiting.popleft())
                pipes.register(pipe, selectors.EVENT_READ, copy)
            for key, _ in pipes.select():
                chunk = os.read(key.fd, _CHUNK)
                key.data.said += chunk
                if not chunk:
                    pipes.unregister(key.fd)
                    os.close(key.fd)
                    said[key.data.at] = _ended(key.data)
    return said


def _forked(at: int, work: Callable[[], Any]) -> tuple[int, _Copy]:
    """Start a copy that does `work`, and the pipe on which it says what came of it."""
    sys.stdout.flush()
    reader, writer = os.pipe()
    process = os.fork()
    if process:
        os.close(writer)
        return reader, _Copy(at, process)
    status = 1
    try:
        os.close(reader)
        with os.fdopen(writer, "w", encoding="utf-8") as pipe:
            pipe.write(_done(work))
        status = 0
    finally:
        # Whatever was raised: a copy must never return into what its original was doing.
        os._exit(status)


def _done(work: Callable[[], Any]) -> str:
    """What came of `work`, as JSON."""
    try:
        return json.dumps({"answer": work()})
    except Failed as failed:
        return json.dumps({"failed": str(failed)})
    except Exception as error:
        return json.dumps({"failed": f"{type(error).__name__}: {error}"})


def _ended(copy: _Copy) -> dict[str, Any]:
    status = os.waitstatus_to_exitcode(os.waitpid(copy.process, 0)[1])
    if status < 0:
        return {"failed": f"killed by {signal.Signals(-status).name}"}
    if not copy.said:
        return {"failed": f"exited with status {status} without an answer"}
    said: dict[str, Any] = json.loads(copy.said)
    return said
