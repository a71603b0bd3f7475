"""What an error on a GPU is, by its text: the exceptions of torch, Triton and CUDA have no types that tell. Pure."""

from __future__ import annotations

import re

__all__ = ["FAULT", "MEMORY", "OTHER", "REFUSED", "kind_of"]

FAULT, MEMORY, REFUSED, OTHER = "fault", "memory", "refused", "other"
"""`fault`: this process can compute no more on the GPU. `memory`: it ran out. `refused`: the engine or its backend
says that it does not do this. `other`: anything else that an engine raises."""

_KINDS = (
    (MEMORY, r"out of memory|OutOfMemoryError|ALLOC_FAILED|Not enough memory|insufficient memory"),
    (
        FAULT,
        r"CUDA error|cudaError|CUDA_ERROR|CUDA driver error|AcceleratorError|illegal memory access|device-side assert"
        r"|misaligned address|unspecified launch failure|CUBLAS_STATUS_\w+|Triton Error \[CUDA\]",
    ),
    (REFUSED, r"^(NotImplementedError|ValueError|AssertionError|ImportError|ModuleNotFoundError)\b"),
)


def kind_of(error: str) -> str:
    """The kind of an error given as `Type: first line`; out of memory comes first, whatever else the text says."""
    return next((kind for kind, pattern in _KINDS if re.search(pattern, error)), OTHER)
