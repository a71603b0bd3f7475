"""One input's lines on their way into runs: configuration, exceptions, single-line faults, context."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from ddtree_doctor.triage.events import Notice, event
from ddtree_doctor.triage.exceptions import Exceptions
from ddtree_doctor.triage.model import Clock, Fault, Line, Place
from ddtree_doctor.triage.patterns import clip
from ddtree_doctor.triage.run import Reading, Run
from ddtree_doctor.triage.setup import CONFIGURES, RUNNING, learn
from ddtree_doctor.triage.unwrap import Unwrapped

__all__ = ["Intake"]

ENGINE_WORDS = (
    "sglang",
    "SGLang",
    "vllm",
    "vLLM",
    "Load weight",
    "CUDA",
    "server_args=",
    "Uvicorn",
    "NCCL",
    "Traceback",
)
ORDINARY = ("Decode batch", "Prefill batch")
ACCESS = 'HTTP/1.1" 200'
PROGRESS = ("Avg generation throughput", "Shutting down", "racefully", "ready to roll", "startup complete")
WARNS = "arning: "
CONTEXT_LINES = 40
CONTEXT_MAX = 8
EXCERPT_LINES = 40
LINE_SHOWN = 600
STREAMS_MAX = 256


class Intake:
    """The state between two lines of one input."""

    def __init__(self, name: str, reading: Reading, notices: Sequence[Notice]) -> None:
        self._name = name
        self._reading = reading
        self._notices = notices
        self._index = 0
        self._configured: set[str] = set()
        self._exceptions = Exceptions(reading.record, self._stamp)
        self._running: dict[str, int] = {}
        self._telling: deque[Place] = deque(maxlen=CONTEXT_MAX)
        self._tail: deque[str] = deque(maxlen=EXCERPT_LINES)
        self._clock: dict[str, Clock] = {}

    def take(self, peeled: Unwrapped, number: int) -> None:
        """One line."""
        line = self._timed(peeled.line(Place(file=self._name, line=number, text=peeled.text)))
        self._tail.append(clip(line.text, LINE_SHOWN))
        if line.text.startswith(ORDINARY) or ACCESS in line.text:
            self._ordinary(line)
        else:
            self._telling_line(line)

    def batch(self, text: str, writer: str = "") -> None:
        """Remember the running batch that `text` reports."""
        if (found := RUNNING.search(text)) and (writer in self._running or len(self._running) < STREAMS_MAX):
            self._running[writer] = int(found[1] or found[2])

    def close(self) -> None:
        """The input ended."""
        self._exceptions.close()

    @property
    def _run(self) -> Run:
        return self._reading.run(self._index)

    def _ordinary(self, line: Line) -> None:
        """A batch or access line: nearly all of a log."""
        self._reading.engine_lines += 1
        self.batch(line.text, line.writer)
        self._run.progress[self._name] = line.place.line
        self._run.setup.serve(line.text, line.place)

    def _telling_line(self, line: Line) -> None:
        if not self._reading.engine_lines:
            self._reading.engine_lines += any(word in line.text for word in ENGINE_WORDS)
        if any(word in line.text for word in CONFIGURES):
            self._configure(line)
        if self._exceptions.take(line):
            return
        learn(self._run.setup, line)
        if any(word in line.text for word in PROGRESS):
            self._run.progress[self._name] = line.place.line
            self.batch(line.text, line.writer)
        if self._exceptions.single(line):
            return
        if fault := event(line, self._notices):
            self._reading.record(self._stamp(fault))
        elif WARNS in line.text:
            self._telling.append(replace(line.place, text=clip(line.text.strip(), LINE_SHOWN)))

    def _timed(self, line: Line) -> Line:
        """A line without a time of its own was written when its stream last gave one."""
        if line.clock.engine is not None:
            if line.stream in self._clock or len(self._clock) < STREAMS_MAX:
                self._clock[line.stream] = line.clock
            return line
        last = self._clock.get(line.stream)
        return replace(line, clock=Clock(engine=last.engine, wrapper=line.clock.wrapper)) if last else line

    def _configure(self, line: Line) -> None:
        """A second configuration from one source begins another run."""
        if line.stream in self._configured and (self._run.setup.milestones or "server_args=" in line.text):
            self._exceptions.close()
            self._index += 1
            self._configured.clear()
            self._running.clear()
        if len(self._configured) < STREAMS_MAX:
            self._configured.add(line.stream)

    def _stamp(self, fault: Fault) -> Fault:
        """Add what is known when the fault's line is read."""
        if fault.kind not in ("complaint", "hazard"):
            self._reading.excerpt(fault.place, tuple(self._tail))
        own = self._running.get(fault.writer)
        return replace(
            fault,
            run=self._index,
            phase=self._run.setup.phase,
            running=tuple(sorted(set(self._running.values()))) if own is None else (own,),
            context=tuple(at for at in self._telling if 0 <= fault.place.line - at.line <= CONTEXT_LINES),
        )
