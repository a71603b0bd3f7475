"""What kinds of device error a text speaks of, and whether the place it was reported at can be trusted."""

from __future__ import annotations

from ddtree_doctor.triage.patterns import pattern

__all__ = ["KINDS", "asynchronous", "kinds"]

KINDS = (
    (
        "ima",
        pattern(
            r"illegal memory access|cudaErrorIllegalAddress|CUDA_ERROR_ILLEGAL_ADDRESS|hipErrorIllegalAddress"
            r"|Memory access fault by GPU|an illegal address|MMU [Ff]ault"
        ),
    ),
    ("assert", pattern(r"device-side assert|Assertion `|cudaErrorAssert|CUDA_ERROR_ASSERT")),
    (
        "launch-failure",
        pattern(r"unspecified launch failure|cudaErrorLaunchFailure|CUDA_ERROR_LAUNCH_FAILED|misaligned address"),
    ),
    ("oob", pattern(r"index out of bounds|index out-of-bounds|indexSelect\w{0,20}: |srcIndex < srcSelectDimSize")),
    (
        "capture",
        pattern(
            r"stream is capturing|StreamCapture(?:Invalidated|Unsupported|Implicit|Unjoined)|during capture\b"
            r"|in a capturing stream"
        ),
    ),
    ("no-image", pattern(r"no kernel image|NoKernelImage|CUDA_ERROR_NO_BINARY_FOR_GPU|invalid device function")),
    ("oom", pattern(r"out of memory|OutOfMemory|CUDA_ERROR_OUT_OF_MEMORY|CUBLAS_STATUS_ALLOC_FAILED")),
    ("nan", pattern(r"\bNaN\b|\bnan\b")),
    ("xid", pattern(r"Xid[ :(]")),
)
ASYNCHRONOUS = ("ima", "assert", "launch-failure", "oob")
# A kernel that names its own source line, and a run with blocking launches, say where it happened.
IN_KERNEL = pattern(r"\w{1,80}\.cuh?:\d{1,6}")


def kinds(text: str) -> tuple[str, ...]:
    """The kinds in `text`, in the order of KINDS."""
    return tuple(kind for kind, words in KINDS if words.search(text))


def asynchronous(text: str, blocking: bool) -> bool:
    """Whether the error may have been caused by an earlier call than the one whose frames were printed."""
    return not blocking and not IN_KERNEL.search(text) and any(kind in ASYNCHRONOUS for kind in kinds(text))
