"""Progress on standard error for what takes longer than a person likes to wait. Never on standard output."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

__all__ = ["step"]

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
