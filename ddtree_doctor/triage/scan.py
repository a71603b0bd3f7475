"""Find the parts of a log that are worth parsing, in one pass and constant memory.

Beyond its opening, a server's log is nearly all access and batch lines. A block is searched for a few literals that
any fault's text holds; only the neighbourhood of a hit is cut out, decoded and parsed. The opening, where an engine
prints its configuration, is always cut out whole.

Invariants to keep: regions come in order, do not overlap, and end at line ends (a line longer than LONG comes in
pieces that share its number). Adding a literal costs about 5 % of the scanning speed: see ci/triage_benchmark.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace

__all__ = ["LITERALS", "Region", "Scanner", "regions"]

# (guard, literal): the literal is sought only in blocks that hold the guard, a byte that ordinary lines seldom have;
# one byte is found ten times as fast as three.
LITERALS = (
    (b"r", b"rror"),
    (b"R", b"ERROR"),
    (b"x", b"xception"),
    (b"T", b"Traceback (most"),
    (b"l", b"ailed"),
    (b"X", b"Xid"),
    (b"G", b"SIG"),
    (b"M", b"OOM"),
    (b"K", b"Killed"),
    (b"g", b"atchdog"),
    (b"k", b"leak detected"),
    (b"h", b"should not happen"),
    (b"f", b"egmentation fault"),
)
OPENINGS = ((b"=", b"server_args="), (b"L", b"LLM engine (v"), (b"n", b"non-default args"))
"""A launch begins: what follows is parsed whole, as at the beginning of a file."""

OPENING = 512 * 1024
BEFORE = 12 * 1024
AFTER = 12 * 1024
STRIDE = 2 * 1024
"""After a hit the same literal is sought again only this much further on: a flood of one costs no more than that."""
LONG = 1 << 20
RUNNING = b"#running-req"
RECENT = 64 * 1024
NEEDLES = (*((*each, AFTER) for each in LITERALS), *((*each, OPENING) for each in OPENINGS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Whole lines from `line` (1-based) on. `batch` is the last batch line before it, b"" where there was none."""

    line: int
    data: bytes
    batch: bytes = b""


class Scanner:
    """The state between two blocks of one input. Offsets are into the buffer."""

    def __init__(self) -> None:
        self.bytes = 0
        self.line = 1
        self._buffer = b""
        self._emitted = 0
        self._counted = 0
        self._searched = 0
        self._owed = OPENING
        self._batch = b""

    def feed(self, block: bytes) -> Iterator[Region]:
        """The regions that `block` completes."""
        self.bytes += len(block)
        self._buffer += block.replace(b"\0", b"") if b"\0" in block else block
        end = self._buffer.rfind(b"\n", self._searched) + 1
        if not end and len(self._buffer) > LONG:
            end = len(self._buffer)
        if end > self._searched:
            yield from self._upto(end)
            self._forget(end)

    def close(self) -> Iterator[Region]:
        """What is left, a last line without its end included. `line` is then the number of lines read."""
        end = len(self._buffer)
        yield from self._upto(end)
        self._number(end)
        self.line -= self._buffer.endswith(b"\n") or not self.bytes

    def _upto(self, end: int) -> Iterator[Region]:
        for start, stop in self._spans(end):
            yield Region(line=self._number(start), data=self._buffer[start:stop], batch=self._last_batch(start))
            self._emitted = stop

    def _spans(self, end: int) -> Iterator[tuple[int, int]]:
        """Spans to cut out of the buffer up to `end`; what the last is owed beyond `end` is kept for the next block."""
        start = self._emitted
        wanted = start + self._owed
        for hit, after in self._hits(end):
            first = max(self._emitted, self._line_start(hit - BEFORE))
            if first > wanted:
                if wanted > start:
                    yield start, self._line_end(wanted, end)
                start = first
            wanted = max(wanted, hit + after)
        self._owed = max(0, wanted - end)
        if wanted > start:
            yield start, self._line_end(wanted, end)

    def _hits(self, end: int) -> Iterator[tuple[int, int]]:
        """Each hit in order, with the bytes that are to follow it."""
        find, at = self._buffer.find, self._searched
        self._searched = end
        heap = []
        for guard, literal, after in NEEDLES:
            if find(guard, at, end) >= 0 and (hit := find(literal, at, end)) >= 0:
                heap.append((hit, literal, after))
        heapify(heap)
        while heap:
            hit, literal, after = heap[0]
            yield hit, after
            following = find(literal, hit + STRIDE, end)
            if following >= 0:
                heapreplace(heap, (following, literal, after))
            else:
                heappop(heap)

    def _line_start(self, at: int) -> int:
        return self._buffer.rfind(b"\n", 0, at) + 1 if at > 0 else 0

    def _line_end(self, at: int, end: int) -> int:
        return self._buffer.find(b"\n", at, end) + 1 or end

    def _number(self, at: int) -> int:
        """The number of the line at offset `at`."""
        if at >= self._counted:
            self.line += self._buffer.count(b"\n", self._counted, at)
        else:
            self.line -= self._buffer.count(b"\n", at, self._counted)
        self._counted = at
        return self.line

    def _last_batch(self, before: int) -> bytes:
        found = self._buffer.rfind(RUNNING, 0, before)
        if found < 0:
            return self._batch
        start = self._line_start(found)
        return self._buffer[start : min(self._line_end(found, len(self._buffer)), start + 4096)]

    def _forget(self, end: int) -> None:
        """Keep of the buffer only what may precede the next hit."""
        if self._buffer.rfind(RUNNING, max(0, end - RECENT), end) >= 0:
            self._batch = self._last_batch(end)
        keep = self._line_start(end - BEFORE)
        if end - keep > 2 * BEFORE:  # inside a line without end
            keep = end - BEFORE
        self._number(keep)
        self._buffer = self._buffer[keep:]
        self._counted = 0
        self._emitted = max(0, self._emitted - keep)
        self._searched = end - keep


def regions(blocks: Iterable[bytes]) -> Iterator[Region]:
    """The regions of one input."""
    scanner = Scanner()
    for block in blocks:
        yield from scanner.feed(block)
    yield from scanner.close()
