"""Names of GPU architectures (`sm_90a`, `compute_80`) and which GPU runs code built for which of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["architecture_order", "carry", "runs"]

_NAME = re.compile(r"(sm|compute)_(\d+)(\d)([af]?)")


def runs(arch: str, capability: tuple[int, int]) -> bool:
    """Whether a GPU of `capability` (major, minor) runs code built for `arch`; False for a name that is no such arch.

    Binary code (`sm_`) runs on the same major and any later minor; with the suffix `f` on its family (the same major,
    any later minor), with `a` on that very architecture alone. `compute_` is PTX, compiled on load for any later
    architecture under the same two suffixes. Source: CUDA C++ Programming Guide, "Compute Capabilities" and
    "Family-specific features", https://docs.nvidia.com/cuda/cuda-c-programming-guide/.
    """
    parsed = _NAME.fullmatch(arch)
    if parsed is None:
        return False
    kind, suffix = parsed.group(1), parsed.group(4)
    built = (int(parsed.group(2)), int(parsed.group(3)))
    if suffix == "a":
        return built == capability
    if suffix == "f" or kind == "sm":
        return built[0] == capability[0] and built <= capability
    return built <= capability


def carry(archs: Iterable[str], capability: tuple[int, int]) -> bool:
    """Whether any of `archs` runs on a GPU of `capability`."""
    return any(runs(arch, capability) for arch in archs)


def architecture_order(arch: str) -> tuple[int, str]:
    """Sort key: by number, then by name, so that `sm_90` stands before `sm_90a` and both before `sm_100f`."""
    parsed = _NAME.fullmatch(arch)
    return (int(parsed.group(2) + parsed.group(3)) if parsed else 0, arch)
