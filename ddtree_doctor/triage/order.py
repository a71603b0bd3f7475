"""First cause first: which fault of a run came first, which others only echo it, which the server survived."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cmp_to_key

from ddtree_doctor.triage.model import Fault
from ddtree_doctor.triage.patterns import pattern
from ddtree_doctor.triage.run import Run

__all__ = ["Echo", "Incident", "incident"]

# (why, pattern, always): `always` is false where the same words are a first fault if nothing went before.
ECHOES = (
    (
        "a parent reports that a child failed",
        pattern(
            r"sigquit from a child|SIGQUIT received|child (?:process )?failed|Engine core initialization failed"
            r"|EngineDeadError|EngineCore encountered an issue|died unexpectedly|initialization failed due to"
            r"|ActorDiedError|ChildFailedError|Scheduler or DataParallelController [^\n]{0,40}(?:died|dead)"
            r"|warmup error|exited unexpectedly|Rank \d{1,4} scheduler (?:is dead|died)"
            r"|Worker proc [^\n]{0,40} died|Subprocess [^\n]{0,60} (?:crash|exit)"
        ),
        True,
    ),
    (
        "a peer lost its connection",
        pattern(
            r"Connection reset by peer|Connection closed by (?:peer|remote)|Broken pipe|recvValue failed|TCPStore"
            r"|remote process exited|ncclRemoteError|Socket closed|failed to recv|sendBytes failed"
        ),
        True,
    ),
    (
        "other ranks wait for one that is gone",
        pattern(
            r"collective operation timeout|NCCL operations have failed or timed out|DistBackendError"
            r"|watchdog (?:got stuck|thread terminated)|atchdog timeout|Health check failed"
            r"|shared memory broadcast block|RPC call to execute_model timed out"
        ),
        False,
    ),
    (
        "the process dies of an error already reported",
        pattern(
            r"SIGABRT|terminate called|core dumped|Fatal Python error|SIGKILL|exit ?code:? -\d|Segmentation fault"
            r"|Killed process"
        ),
        False,
    ),
)
ASIDE = frozenset(
    {
        "BadRequestError",
        "CancelledError",
        "ClientDisconnect",
        "EngineGenerateError",
        "GeneratorExit",
        "HTTPException",
        "KeyboardInterrupt",
        "RequestValidationError",
        "StopAsyncIteration",
        "SystemExit",
    }
)
"""Exceptions of one request or of an orderly end: no incident."""
REQUEST_FILES = ("starlette/", "fastapi/", "uvicorn/", "/entrypoints/", "aiohttp/", "anyio/")
ENGINE_FILES = (
    "model_executor",
    "scheduler",
    "speculative",
    "worker",
    "layers/",
    "models/",
    "mem_cache",
    "engine/core",
)
WEAK = ("hazard", "complaint")
JOIN_LINES = 120
SAME_CHARS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo:
    """A fault that follows from the first, and why it is taken for that."""

    fault: Fault
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """What broke in one run: `parts` tell of the first fault (the first in time first), `echoes` follow from it.

    `ordered` is false where several writers faulted and no clock tells which came first. `only_echoes`: the first
    fault is not in the log.
    """

    parts: tuple[Fault, ...]
    echoes: tuple[Echo, ...] = ()
    ordered: bool = True
    only_echoes: bool = False

    @property
    def lead(self) -> Fault:
        """The part that says most: the first with frames, else the first."""
        return next((part for part in self.parts if part.frames), self.parts[0])


def incident(run: Run) -> Incident | None:
    """The incident of `run`; None where it survived its faults, or they are the affair of single requests."""
    faults = sorted(run.faults, key=lambda fault: (fault.place.file, fault.place.line))
    ranked = sorted((fault for fault in faults if not _aside(fault, run)), key=cmp_to_key(_order))
    firsts = _firsts(ranked)
    if not firsts:
        told = [fault for fault in ranked if fault.kind not in WEAK]
        return Incident(parts=(told[0],), echoes=_echoes(told[1:], told[:1]), only_echoes=True) if told else None
    parts = _parts(firsts[0], ranked)
    rest = [fault for fault in ranked if fault not in parts and fault.kind not in WEAK]
    return Incident(parts=parts, echoes=_echoes(rest, parts), ordered=_ordered(parts[0], firsts))


def echo_of(fault: Fault) -> tuple[str, bool] | None:
    """Why `fault` sounds like an echo and whether it always is one; None where it does not."""
    cause = fault.chain()[0]
    text = f"{cause.exception}: {''.join(cause.message[:1])}"
    return next(((why, always) for why, words, always in ECHOES if words.search(text)), None)


def _firsts(ranked: Sequence[Fault]) -> list[Fault]:
    """Faults that can be the first: true ones, else echoes that may be more than that, else mere hazards.

    A line that only complains comes before an echo, so that a time-out is not blamed for what went before it.
    """
    true = [fault for fault in ranked if echo_of(fault) is None]
    firsts = [fault for fault in true if fault.kind not in WEAK]
    may_be = [fault for fault in ranked if (echo := echo_of(fault)) and not echo[1]]
    if firsts or not may_be:
        return firsts or [fault for fault in true if fault.kind == "hazard"]
    complaints = [fault for fault in true if fault.kind == "complaint" and _order(fault, may_be[0]) < 0]
    return complaints or may_be


def _aside(fault: Fault, run: Run) -> bool:
    """Whether `fault` is no incident: one request's affair, an orderly end, or survived."""
    if fault.exception in ASIDE or _after_shutdown(fault, run):
        return True
    files = [frame.file for frame in fault.frames]
    if files and all(any(part in file for part in REQUEST_FILES) for file in files[-3:]):
        return True
    return _survived(fault, files, run)


def _after_shutdown(fault: Fault, run: Run) -> bool:
    """Whether `fault` is only the children's end in an orderly shutdown."""
    ended = run.setup.milestones.get("shutdown")
    echoes = fault.kind in ("signal", "timeout") or echo_of(fault) is not None
    return echoes and ended is not None and ended.file == fault.place.file and ended.line < fault.place.line


def _survived(fault: Fault, files: Sequence[str], run: Run) -> bool:
    """Whether a traceback outside the engine's core was logged and the server went on: nothing fatal came after."""
    loud = fault.kind != "exception" or fault.head or fault.level in ("ERROR", "CRITICAL") or not files
    if loud or any(part in file for file in files for part in ENGINE_FILES):
        return False
    if any(echo_of(other) and _order(fault, other) < 0 for other in run.faults if other is not fault):
        return False
    return not run.stalled(fault.place)


def _order(left: Fault, right: Fault) -> int:
    if left.place.file == right.place.file:
        return left.place.line - right.place.line
    earlier = left.clock.before(right.clock)
    return 0 if earlier is None else -1 if earlier else 1


def _ordered(first: Fault, firsts: Sequence[Fault]) -> bool:
    return all(
        other.place.file == first.place.file or first.clock.before(other.clock) is not None or _same(other, (first,))
        for other in firsts
    )


def _parts(first: Fault, ranked: Sequence[Fault]) -> tuple[Fault, ...]:
    """`first` and what belongs to it: the lines around a traceback, up to the first one with frames."""
    parts, framed = [first], bool(first.frames)
    for other in ranked:
        if other is first or not _near(first, other) or ((echo := echo_of(other)) and echo[1]):
            continue
        if other.kind in WEAK and other.place.line > first.place.line:
            continue
        if not other.frames and other.kind != "timeout":
            parts.append(other)
        elif not framed and other.kind == "exception":
            parts.append(other)
            framed = True
    return tuple(parts)


def _near(first: Fault, other: Fault) -> bool:
    if other.place.file != first.place.file:
        return "Xid" in other.text
    ours = first.writer.startswith(other.writer) or other.writer.startswith(first.writer)
    return ours and abs(other.place.line - first.place.line) <= JOIN_LINES


def _echoes(rest: Sequence[Fault], parts: Sequence[Fault]) -> tuple[Echo, ...]:
    return tuple(Echo(fault=fault, why=_why(fault, parts)) for fault in rest)


def _why(fault: Fault, parts: Sequence[Fault]) -> str:
    if _same(fault, parts):
        return "the same fault on another rank or printed again"
    echo = echo_of(fault)
    return echo[0] if echo else "comes after the first fault"


def _same(fault: Fault, parts: Sequence[Fault]) -> bool:
    mine = fault.text
    return any(
        len(line) >= SAME_CHARS and line in mine for part in parts for each in part.chain() for line in each.message[:1]
    )
