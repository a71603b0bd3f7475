"""A GPU as SGLang finds it: nothing stands in for anything. What the probe asks of the host before it starts there."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping

from ddtree_doctor.probe.child import Failed

__all__ = ["ENVIRONMENT", "before_import", "demand_room", "free_port"]

ENVIRONMENT: Mapping[str, str] = {
    "DDTREE_DOCTOR_PROBE": "1",
    # The helpers that SGLang decorates run as they are: compiling them takes longer than all scenarios.
    "TORCHDYNAMO_DISABLE": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
}
"""What the probe's environment holds on top of the user's. The recording platform is not named, so it stays out."""


def before_import() -> None:
    """Prepare this process for importing SGLang on a GPU."""
    os.environ.update(ENVIRONMENT)
    for name in ("SGLANG_PLATFORM", "TRITON_INTERPRET"):
        os.environ.pop(name, None)


def demand_room(need_mib: int) -> None:
    """Raise Failed where there is no GPU, or it has not `need_mib` MiB to itself."""
    import torch

    if not torch.cuda.is_available():
        raise Failed(f"no GPU: torch {torch.__version__} sees none; `nvidia-smi` and CUDA_VISIBLE_DEVICES tell why")
    free, total = (size >> 20 for size in torch.cuda.mem_get_info(0))
    if total < need_mib:
        raise Failed(f"GPU too small: it has {total} MiB, the probe needs {need_mib}; take a larger one")
    if free < need_mib:
        raise Failed(f"GPU too busy: {free} of {total} MiB are free, the probe needs {need_mib}; stop what runs on it")


def free_port() -> int:
    """A TCP port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
