"""From inputs to runs: scan, unwrap, gather."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from ddtree_doctor.triage.events import Notice
from ddtree_doctor.triage.intake import Intake
from ddtree_doctor.triage.literal import CAP
from ddtree_doctor.triage.patterns import LINE_CAP, pattern
from ddtree_doctor.triage.run import Reading
from ddtree_doctor.triage.scan import Region, Scanner
from ddtree_doctor.triage.setup import CONFIGURES
from ddtree_doctor.triage.source import blocks
from ddtree_doctor.triage.unwrap import Unwrapped, unwrap

__all__ = ["read", "read_blocks"]

SEQUENCE = pattern(r"\x1b(?:\[[0-9;:?]{0,64}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\))")
NEWLINE = b"\n"
HELD_MAX = 64
LINES_MAX = 200_000
"""Lines of one input that are read closely; of what comes after, the last LATE_BYTES are."""
LATE_BYTES = 1 << 20


def read(paths: Sequence[str], notices: Sequence[Notice]) -> Reading:
    """Read every input. Raises UsageError for one that is no log."""
    reading = Reading()
    for path in paths:
        read_blocks(path, blocks(path, reading.notes.append), reading, notices)
    return reading


def read_blocks(name: str, data: Iterable[bytes], reading: Reading, notices: Sequence[Notice]) -> None:
    """Read one input's blocks into `reading`. Raises nothing of its own on any bytes."""
    scanner, lines = Scanner(), _Lines(Intake(name, reading, notices))
    for block in data:
        for region in scanner.feed(block):
            lines.take(region)
    for region in scanner.close():
        lines.take(region)
    lines.close()
    if lines.skipped:
        reading.notes.append(
            f"{name}: lines {lines.skipped} speak of errors by the hundred thousand and were not read closely"
        )
    reading.files.append(name)
    reading.lines += scanner.line
    reading.bytes += scanner.bytes


class _Lines:
    """Regions into lines: cut, unwrapped, those that a runtime split in two put together."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._held: dict[str, str] = {}
        self._number = 1
        self._left = LINES_MAX
        self._late: deque[Region] = deque()
        self._late_bytes = 0
        self.skipped = ""

    def take(self, region: Region) -> None:
        """Parse a region's lines, or put it by where enough lines were parsed."""
        if self._left > 0:
            self._parse(region)
            return
        self._late.append(region)
        self._late_bytes += len(region.data)
        while self._late_bytes > LATE_BYTES and len(self._late) > 1:
            gone = self._late.popleft()
            self._late_bytes -= len(gone.data)
            self.skipped = f"{self.skipped.partition(' ')[0] or gone.line} to {gone.line + gone.data.count(NEWLINE)}"

    def _parse(self, region: Region) -> None:
        if region.batch:
            self._intake.batch(region.batch.decode("utf-8", "replace"))
        text = region.data.decode("utf-8", "backslashreplace")
        blank = False
        for number, raw in enumerate(text.removesuffix("\n").split("\n"), start=region.line):
            if not raw and blank:
                continue
            self._number, blank = number, not raw
            for part in _parts(raw.rstrip("\r")):
                self._left -= 1
                self._part(part)

    def close(self) -> None:
        """The input ended."""
        for region in self._late:
            self._parse(region)
        for stream, text in self._held.items():
            self._intake.take(Unwrapped(text, stream=stream), self._number)
        self._intake.close()

    def _part(self, raw: str) -> None:
        peeled = unwrap(raw)
        if peeled.partial and (peeled.stream in self._held or len(self._held) < HELD_MAX):
            self._held[peeled.stream] = (self._held.get(peeled.stream, "") + peeled.text)[:CAP]
            return
        if held := self._held.pop(peeled.stream, ""):
            whole = unwrap(held + peeled.text)
            whole.stream, whole.wrapper = peeled.stream, peeled.wrapper
            peeled = whole
        for index, text in enumerate(peeled.text.split("\n")):
            peeled.text, peeled.fresh = text, peeled.fresh and not index
            self._intake.take(peeled, self._number)


def _parts(raw: str) -> Iterator[str]:
    """A line's carriage-return parts without terminal sequences, none longer than patterns may see."""
    if "\x1b" in raw:
        raw = SEQUENCE.sub("", raw)
    for part in raw.split("\r") if "\r" in raw else (raw,):
        whole = CAP if part.startswith("{") or any(word in part[:LINE_CAP] for word in CONFIGURES) else LINE_CAP
        yield part[:whole]
        yield from (part[at : at + LINE_CAP] for at in range(whole, len(part), LINE_CAP))
