"""From inputs to faults and setups: scan, unwrap, gather."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ddtree_doctor.triage.events import Notice, event
from ddtree_doctor.triage.exceptions import Exceptions
from ddtree_doctor.triage.literal import CAP
from ddtree_doctor.triage.model import Clock, Fault, Line, Place
from ddtree_doctor.triage.patterns import LINE_CAP, pattern
from ddtree_doctor.triage.scan import Region, Scanner
from ddtree_doctor.triage.setup import RUNNING, Setup, learn
from ddtree_doctor.triage.source import blocks
from ddtree_doctor.triage.unwrap import Unwrapped, unwrap

__all__ = ["Reading", "read", "read_blocks"]

SEQUENCE = pattern(r"\x1b(?:\[[0-9;:?]{0,64}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\))")
DIGITS = pattern(r"\d{1,20}")
CONFIGURES = ("server_args=", "LLM engine (v", "non-default args")
ENGINE_WORDS = (
    "sglang",
    "SGLang",
    "vllm",
    "vLLM",
    "batch, #",
    "Load weight",
    "cuda graph",
    "CUDA graph",
    "server_args=",
    "Uvicorn",
    "#running-req",
    "ServerArgs",
    "EngineCore",
    "NCCL",
    "CUDA",
    "Traceback",
)
FAULTS_MAX = 400
COMPLAINTS_MAX = 100
REPEATS_MAX = 16
CONTEXT_LINES = 40
EXCERPTS_MAX = 12
EXCERPT_LINES = 40
LINE_SHOWN = 600
TELLING = ("arning:", "mismatch", "topk_index", "out of bounds", "rejected", "fallback", "alling back")
PROGRESS = ("Decode batch", "Prefill batch", '" 200', "Avg generation throughput", "Shutting down", "racefully")


@dataclass(slots=True)
class Run:
    """One run of the deployment: what it told of itself, what went wrong, and each file's last line of progress."""

    setup: Setup = field(default_factory=Setup)
    faults: list[Fault] = field(default_factory=list)
    progress: dict[str, int] = field(default_factory=dict)

    def stalled(self, place: Place) -> bool:
        """Whether the log shows neither a request served nor an orderly end after `place`."""
        return self.progress.get(place.file, 0) <= place.line


@dataclass(slots=True)
class Reading:
    """All that one reading of the inputs brought out. `engine_lines` counts parsed lines that speak of an engine."""

    files: list[str] = field(default_factory=list)
    lines: int = 0
    bytes: int = 0
    engine_lines: int = 0
    runs: list[Run] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    excerpts: list[tuple[Place, tuple[str, ...]]] = field(default_factory=list)
    dropped: int = 0

    def run(self, index: int) -> Run:
        """Run `index`, made where it is not there yet."""
        while len(self.runs) <= index:
            self.runs.append(Run())
        return self.runs[index]


def read(paths: Sequence[str], notices: Sequence[Notice]) -> Reading:
    """Read every input. Raises UsageError for one that is no log."""
    reading = Reading()
    for path in paths:
        read_blocks(path, blocks(path, reading.notes.append), reading, notices)
    return reading


def read_blocks(name: str, data: Iterable[bytes], reading: Reading, notices: Sequence[Notice]) -> None:
    """Read one input's blocks into `reading`. Raises nothing of its own on any bytes."""
    scanner, file = Scanner(), _File(name, reading, notices)
    for block in data:
        for region in scanner.feed(block):
            file.take(region)
    for region in scanner.close():
        file.take(region)
    file.close()
    reading.files.append(name)
    reading.lines += scanner.line
    reading.bytes += scanner.bytes


class _File:
    """One input on its way through."""

    def __init__(self, name: str, reading: Reading, notices: Sequence[Notice]) -> None:
        self.name = name
        self.reading = reading
        self.notices = notices
        self.index = 0
        self.configured: set[str] = set()
        self.exceptions = Exceptions(self._record, self._stamp)
        self.held: dict[str, str] = {}
        self.running: int | None = None
        self.recent: list[Place] = []
        self.tail: deque[str] = deque(maxlen=EXCERPT_LINES)
        self.clock: dict[str, Clock] = {}
        self.seen: dict[str, int] = {}

    @property
    def run(self) -> Run:
        return self.reading.run(self.index)

    def take(self, region: Region) -> None:
        """Parse a region's lines."""
        if region.batch:
            self._batch(region.batch.decode("utf-8", "replace"))
        text = region.data.decode("utf-8", "backslashreplace")
        for number, raw in enumerate(text.removesuffix("\n").split("\n"), start=region.line):
            for part in _parts(raw.rstrip("\r")):
                self._raw(number, part)

    def close(self) -> None:
        """The input ended."""
        for stream, text in self.held.items():
            self._line(Unwrapped(text, stream=stream), 0, text)
        self.exceptions.close()

    def _raw(self, number: int, raw: str) -> None:
        peeled = unwrap(raw)
        if peeled.partial:
            self.held[peeled.stream] = (self.held.get(peeled.stream, "") + peeled.text)[:CAP]
            return
        if held := self.held.pop(peeled.stream, ""):
            whole = unwrap(held + peeled.text)
            whole.stream, whole.wrapper = peeled.stream, peeled.wrapper
            peeled = whole
        for part, text in enumerate(peeled.text.split("\n")):
            peeled.fresh = peeled.fresh and not part
            self._line(peeled, number, text)

    def _line(self, peeled: Unwrapped, number: int, text: str) -> None:
        line = peeled.line(Place(file=self.name, line=number, text=text))
        line = self._timed(line)
        self.tail.append(text[:LINE_SHOWN])
        self.reading.engine_lines += any(word in text for word in ENGINE_WORDS)
        if any(word in text for word in CONFIGURES):
            self._configured(line)
        if self.exceptions.take(line):
            return
        learn(self.run.setup, line)
        self._batch(text)
        if any(word in text for word in PROGRESS):
            self.run.progress[self.name] = number
        if self.exceptions.single(line):
            return
        if fault := event(line, self.notices):
            self._record(self._stamp(fault))
        elif any(word in text for word in TELLING):
            self.recent = [*self.recent[-7:], replace(line.place, text=text.strip()[:600])]

    def _timed(self, line: Line) -> Line:
        """A line without a time of its own was written when its stream last gave one."""
        if line.clock.engine is not None:
            self.clock[line.stream] = line.clock
            return line
        last = self.clock.get(line.stream)
        return replace(line, clock=Clock(engine=last.engine, wrapper=line.clock.wrapper)) if last else line

    def _batch(self, text: str) -> None:
        if ("#running-req" in text or "Running: " in text) and (found := RUNNING.search(text)):
            self.running = int(found[1] or found[2])

    def _configured(self, line: Line) -> None:
        """A second configuration from one source, once something happened, begins another run."""
        setup = self.run.setup
        if line.stream in self.configured and (setup.milestones or self.run.faults or "server_args=" in line.text):
            self.exceptions.close()
            self.index += 1
            self.configured.clear()
            self.running = None
        self.configured.add(line.stream)

    def _record(self, fault: Fault) -> None:
        faults = self.reading.run(fault.run).faults
        first = DIGITS.sub("#", f"{fault.kind} {fault.exception} {fault.message[:1]} {fault.writer}")
        count = self.seen[first] = self.seen.get(first, 0) + 1
        limit = COMPLAINTS_MAX if fault.kind == "complaint" else FAULTS_MAX
        if len(faults) >= limit or count > REPEATS_MAX or len(self.seen) > 10 * FAULTS_MAX:
            self.reading.dropped += 1
            return
        faults.append(fault)

    def _stamp(self, fault: Fault) -> Fault:
        """Add what is known when the fault's line is read."""
        if fault.kind not in ("complaint", "hazard") and len(self.reading.excerpts) < EXCERPTS_MAX:
            self.reading.excerpts.append((fault.place, tuple(self.tail)))
        near = tuple(place for place in self.recent if 0 <= fault.place.line - place.line <= CONTEXT_LINES)
        return replace(fault, run=self.index, phase=self.run.setup.phase, running=self.running, context=near)


def _parts(raw: str) -> Iterator[str]:
    """A line's carriage-return parts without terminal sequences, none longer than patterns may see."""
    if "\x1b" in raw:
        raw = SEQUENCE.sub("", raw)
    for part in raw.split("\r") if "\r" in raw else (raw,):
        if len(part) <= LINE_CAP or any(word in part[:LINE_CAP] for word in CONFIGURES) or part.startswith("{"):
            yield part[:CAP]
            if len(part) <= CAP:
                continue
            part = part[CAP:]
        yield from (part[at : at + LINE_CAP] for at in range(0, len(part), LINE_CAP))
