"""Progress on standard error for what takes longer than a person likes to wait. Never on standard output."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

__all__ = ["counted", "step"]

PATIENCE_S = 2.0
INTERVAL_S = 5.0


@contextmanager
def step(what: str, stream: TextIO | None = None) -> Iterator[None]:
    """Say `what` once two seconds have passed, then how long it has taken every five, until the block ends."""
    out = sys.stderr if stream is None else stream
    done = threading.Event()
    begun = time.monotonic()

    def tell() -> None:
        wait = PATIENCE_S
        while not done.wait(wait):
            print(f"doctor: {what} … {time.monotonic() - begun:.0f} s", file=out, flush=True)
            wait = INTERVAL_S

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def counted(what: str, stream: TextIO | None = None) -> Callable[[str, int, int], None]:
    """A function that takes (next step, done, of) and says the counts and the time left, at most every five seconds.

    The time left counts from the first call on, so that what came before it (an import) does not enter the rate.
    """
    out = sys.stderr if stream is None else stream
    begun: list[float] = []
    said = time.monotonic()

    def told(name: str, done: int, of: int) -> None:
        nonlocal said
        now = time.monotonic()
        begun[:] = begun or [now]
        if now - said < INTERVAL_S:
            return
        said = now
        left = f", about {(now - begun[0]) / done * (of - done):.0f} s left" if done else ""
        print(f"doctor: {what}: {done} of {of}, {name}{left}", file=out, flush=True)

    return told
