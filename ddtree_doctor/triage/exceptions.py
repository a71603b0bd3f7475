"""Gather tracebacks from lines: chained, interleaved, boxed by rich, prefixed on every line or only on the first.

Each stream (a pod, `rank3`, a file without labels) keeps a stack of open tracebacks. A healthy line of another writer
between two lines of a traceback is passed over; a traceback whose end the log does not hold is still reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ddtree_doctor.triage.model import Fault, Frame, Line
from ddtree_doctor.triage.patterns import clip, pattern

__all__ = ["EXCEPTION", "Exceptions"]

HEADER = "Traceback (most recent call last)"
CHAIN = ("During handling of the above exception", "The above exception was the direct cause")
FRAME = pattern(r"File \"([^\"\n]{1,400})\", line (\d{1,7})(?:, in ([^\n]{1,200}))?")
RICH_FRAME = pattern(r"(/[^\s:]{1,400}\.py):(\d{1,7}) in (\S{1,200})")
RICH_OTHER = pattern(r"\d{1,7} │")
RICH_SOURCE = pattern(r"❱ {1,4}\d{1,7} │ {0,60}([^\n]{1,300})")
# Outside a traceback only a name that says so is an exception; at the end of one, any dotted name is.
EXCEPTION = pattern(
    r"((?:[A-Za-z_]\w{0,60}\.){0,8})([A-Z]\w{0,80}(?:Error|Exception|Exit|Interrupt|OutOfResources|Unsupported)"
    r"|Exception|OutOfMemory)(?:(?=[:\s;,(])|$)(?:: ?)?"
)
ENDING = pattern(r"((?:[A-Za-z_]\w{0,60}\.){0,8})([A-Za-z_]\w{0,80})(?:: |:?$)")
BOX = " \t|│┃╎"
RULES = "╭╰─━┌└┏┗+-^~"
NOISE = ("it/s]", "s/it]", "%|", "Warning: ")
MESSAGE_LINES = 14
MESSAGE_CHARS = 4000
MESSAGE_LINE_CHARS = 1000
FRAMES_MAX = 120
FRAMES_OUTER = 30
STACK_MAX = 8
STREAMS_MAX = 256
REACH = 60
"""Lines after an exception in which its message may go on."""


@dataclass(slots=True)
class Open:
    """A traceback whose end has not come. `prefixed`: its lines carry the logger's prefix; None until a frame tells."""

    line: Line
    causes: tuple[Fault, ...] = ()
    frames: list[Frame] = field(default_factory=list)
    prefixed: bool | None = None
    source_due: bool = False


@dataclass(slots=True)
class Ended:
    """An exception whose message may go on."""

    fault: Fault
    line: Line
    prefixed: bool
    open: bool = True
    last: int = 0


class Exceptions:
    """Takes lines; gives each exception to `report` once it is whole.

    `stamp` is called when an exception's type is read, to add what is known at that moment.
    """

    def __init__(self, report: Callable[[Fault], None], stamp: Callable[[Fault], Fault]) -> None:
        self._report = report
        self._stamp = stamp
        self._open: dict[str, list[Open]] = {}
        self._ended: dict[str, Ended] = {}
        self._causes: dict[str, tuple[Fault, ...]] = {}

    def take(self, line: Line) -> bool:
        """Whether `line` belongs to a traceback or an exception's message."""
        bare = line.text.strip(BOX)
        if HEADER in bare:
            self._begin(line)
            return True
        if bare.startswith(CHAIN):
            return self._chain(line)
        stack = self._open.get(line.stream)
        if stack and self._continues(stack[-1], line, bare):
            return self._grow(stack, line, bare)
        ended = self._ended.get(line.stream)
        return bool(ended and self._append(ended, line, bare))

    def single(self, line: Line) -> bool:
        """Whether `line` is an exception's type and message with no traceback above it."""
        found = EXCEPTION.match(line.text.strip(BOX))
        if not found or line.level in ("DEBUG", "INFO", "WARNING"):
            return False
        self._end(Open(line, prefixed=line.fresh), line, found[2], line.text.strip(BOX)[found.end() :])
        return True

    def close(self) -> None:
        """Report what is left: the log ended."""
        for stream in list(self._ended):
            self._flush(stream)
        for stack in self._open.values():
            for each in stack:
                self._abandon(each)
        for causes in self._causes.values():
            for fault in causes:
                self._report(fault)
        self._open.clear()
        self._causes.clear()

    def _begin(self, line: Line) -> None:
        causes = self._causes.pop(line.stream, ())
        self._flush(line.stream)
        if line.stream not in self._open and len(self._open) >= STREAMS_MAX:
            self.close()
        stack = self._open.setdefault(line.stream, [])
        stack.append(Open(line, causes))
        if len(stack) > STACK_MAX:
            self._abandon(stack.pop(0))

    def _chain(self, line: Line) -> bool:
        ended = self._ended.pop(line.stream, None)
        if ended is None or len(self._causes) >= STREAMS_MAX:
            return False
        self._causes[line.stream] = (*ended.fault.causes, replace(ended.fault, causes=()))
        return True

    @staticmethod
    def _continues(each: Open, line: Line, bare: str) -> bool:
        """Whether `line` is from the writer of `each`: its lines are all prefixed alike, or none is."""
        if each.prefixed is None:
            return not line.fresh or (
                line.level == each.line.level and bool(FRAME.match(bare) or RICH_FRAME.match(bare))
            )
        return line.fresh == each.prefixed and (not line.fresh or line.level == each.line.level)

    def _grow(self, stack: list[Open], line: Line, bare: str) -> bool:
        each = stack[-1]
        if found := FRAME.match(bare) or RICH_FRAME.match(bare):
            if len(each.frames) >= FRAMES_MAX:  # a deep recursion: both its ends tell more than its middle
                del each.frames[FRAMES_OUTER]
            each.frames.append(Frame(file=found[1], line=int(found[2]), function=(found[3] or "?").strip()))
            each.prefixed, each.source_due = line.fresh, True
        elif boxed := RICH_SOURCE.search(bare):
            self._source(each, boxed[1])
        elif ending := EXCEPTION.match(bare) or self._ending(each, line, bare):
            stack.pop()
            self._end(each, line, ending[2], bare[ending.end() :])
        elif each.source_due and bare and bare[0] not in RULES and not RICH_OTHER.match(bare):
            self._source(each, bare)
        return True

    @staticmethod
    def _ending(each: Open, line: Line, bare: str) -> re.Match[str] | None:
        """An exception by any name, at the margin, after at least one frame; a dotted one where code was due."""
        if not each.frames or line.text[:1] in BOX:
            return None
        found = ENDING.match(bare)
        return found if found and (found[1] or not each.source_due) else None

    @staticmethod
    def _source(each: Open, text: str) -> None:
        if each.frames and not each.frames[-1].source:
            each.frames[-1] = replace(each.frames[-1], source=clip(text.strip(), 300))
        each.source_due = False

    def _end(self, each: Open, line: Line, name: str, message: str) -> None:
        self._flush(line.stream)
        self._make_room(line.stream)
        first = each.causes[0] if each.causes else None
        fault = Fault(
            kind="exception",
            place=line.place,
            exception=name,
            message=(clip(message.strip(), MESSAGE_CHARS),),
            frames=tuple(each.frames),
            causes=each.causes,
            clock=first.clock if first else each.line.clock,
            writer=each.line.writer or line.writer or (first.writer if first else ""),
            level=each.line.level,
            head=_head(each.line) or (first.head if first else ""),
        )
        self._ended[line.stream] = Ended(self._stamp(fault), line, bool(each.prefixed), last=line.place.line)

    def _append(self, ended: Ended, line: Line, bare: str) -> bool:
        """Add a further line of the message, where it is one."""
        fault = ended.fault
        if line.place.line > ended.last + REACH or len(fault.message) >= MESSAGE_LINES:
            return False
        if line.fresh != ended.prefixed or (line.fresh and line.level != ended.line.level):
            return False
        if not bare:
            ended.open = False
        if not ended.open or line.text.lstrip().startswith('File "') or any(mark in bare for mark in NOISE):
            return False
        if line.fresh and (EXCEPTION.match(bare) or line.level not in ("ERROR", "CRITICAL")):
            return False
        ended.fault = replace(fault, message=(*fault.message, clip(bare, MESSAGE_LINE_CHARS)))
        return True

    def _make_room(self, stream: str) -> None:
        """Report the longest held of too many streams' exceptions."""
        if stream not in self._ended and len(self._ended) >= STREAMS_MAX:
            self._flush(next(iter(self._ended)))

    def _flush(self, stream: str) -> None:
        if ended := self._ended.pop(stream, None):
            self._report(ended.fault)

    def _abandon(self, each: Open) -> None:
        """Report a traceback without its end."""
        for cause in each.causes:
            self._report(cause)
        if each.frames:
            cut = Fault(
                kind="exception",
                place=each.line.place,
                frames=tuple(each.frames),
                clock=each.line.clock,
                writer=each.line.writer,
                level=each.line.level,
                head=_head(each.line),
                complete=False,
            )
            self._report(self._stamp(cut))


def _head(line: Line) -> str:
    """What stands before a traceback on its first line: `Scheduler hit an exception`."""
    return clip(line.text.partition(HEADER)[0].strip(" :"), 200) if HEADER in line.text else ""
