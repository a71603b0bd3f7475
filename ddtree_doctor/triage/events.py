"""Single lines that tell of a fault without a traceback: the driver, CUDA and HIP, signals, watchdogs, notices."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ddtree_doctor.triage.model import Fault, Line
from ddtree_doctor.triage.patterns import clip, pattern

__all__ = ["Notice", "event"]

DEVICE = (
    "CUDA error",
    "CUDA Error",
    "CUDA_ERROR_",
    "cudaError",
    "HIP error",
    "hipError",
    "HSA_STATUS_ERROR",
    "NVRM: Xid",
    "illegal memory access",
    "device-side assert",
    "Assertion `",
    "NCCL error",
    "ncclUnhandledCudaError",
    "CUBLAS_STATUS_",
    "CUDNN_STATUS_",
    "no kernel image",
    "Memory access fault by GPU",
    "stream is capturing",
    "unspecified launch failure",
    "misaligned address",
    "index out of bounds",
)
SIGNAL = (
    "sigquit from a child",
    "SIGQUIT received",
    "died unexpectedly",
    "Segmentation fault",
    "Fatal Python error",
    "SIGSEGV",
    "SIGABRT",
    "SIGKILL",
    "SIGBUS",
    "SIGILL",
    "core dumped",
    "terminate called",
    "Killed process",
    "oom-kill",
    "OOMKilled",
    "exit code -",
    "exitcode -",
    "exitcode: -",
)
TIMEOUT = (
    "Watchdog caught collective operation timeout",
    "atchdog timeout",
    "Health check failed",
    "No available shared memory broadcast block",
    "RPC call to execute_model timed out",
)
ADVICE = ("CUDA_LAUNCH_BLOCKING", "TORCH_USE_CUDA_DSA", "asynchronously reported", "NCCL_ASYNC_ERROR", "Open an issue")
COMPLAINTS = ("rror:", "ailed", "FAILED", "nvalid ", "mismatch", "overflow", "corrupt", "crash")
XID = pattern(r"Xid[ :(]")
QUIET = ("DEBUG", "INFO")
MESSAGE_CHARS = 2000
TABLE = (("device", DEVICE), ("signal", SIGNAL), ("timeout", TIMEOUT))


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A line that holds one of `literals` and meets one of `patterns` is a fault of `kind` (`notice` or `hazard`)."""

    literals: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]
    kind: str


def event(line: Line, notices: Iterable[Notice]) -> Fault | None:
    """The fault that `line` is by itself, None for the ordinary line."""
    if line.level in QUIET:
        return None
    quiet = line.level == "WARNING"
    kind = ("" if quiet else _kind(line.text)) or _noticed(line.text, notices) or ("" if quiet else _complaint(line))
    if not kind:
        return None
    return Fault(
        kind=kind,
        place=line.place,
        message=(clip(line.text.strip(), MESSAGE_CHARS),),
        clock=line.clock,
        writer=line.writer,
        level=line.level,
    )


def _noticed(text: str, notices: Iterable[Notice]) -> str:
    return next((each.kind for each in notices if _tells(text, each)), "")


def _tells(text: str, notice: Notice) -> bool:
    literal = any(literal in text for literal in notice.literals)
    return literal and any(words.search(text) for words in notice.patterns)


def _complaint(line: Line) -> str:
    complains = line.level in ("ERROR", "CRITICAL") or any(word in line.text for word in COMPLAINTS)
    return "complaint" if complains and not any(word in line.text for word in ADVICE) else ""


def _kind(text: str) -> str:
    if any(word in text for word in ADVICE):
        return ""
    kind = next((kind for kind, words in TABLE if any(word in text for word in words)), "")
    return kind or ("device" if XID.search(text) else "")
