"""A tiny kernel in a process of its own: whether the GPU still computes after another process ended in a fault."""

from __future__ import annotations

import os
from typing import Any

from ddtree_doctor.probe.child import Failed, serve

__all__ = ["proven"]

COUNT = 1 << 16


def proven(_: Any = None) -> str:
    """The GPU's name, once a kernel on it gave the right sum. Raises Failed, with the error, where it did not."""
    import torch

    if not torch.cuda.is_available():
        raise Failed("torch sees no GPU")
    try:
        found = int(torch.arange(COUNT, device="cuda").sum())
        torch.cuda.synchronize()
    except RuntimeError as error:
        raise Failed(f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}") from error
    if found != COUNT * (COUNT - 1) // 2:
        raise Failed(f"a sum gave {found}")
    name: str = torch.cuda.get_device_name(0)
    return name


if __name__ == "__main__":
    serve(proven)
    os._exit(0)
