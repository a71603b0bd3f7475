"""Compressed logs as a stream of blocks, with a cap on what they may grow to.

Damage and early ends are no errors: what can be read is read, and a note says that more is missing.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, Protocol

from ddtree_doctor.errors import UsageError

__all__ = ["BLOCK", "RATIO_CAP", "SIZE_CAP", "gunzip", "unzstd"]

BLOCK = 1 << 20
RATIO_CAP = 200
"""Bytes out per byte in, once FREE bytes are out. Server logs compress 5 to 60 times."""
FREE = 64 << 20
SIZE_CAP = 16 << 30
WINDOW_CAP = 64 << 20
GZIP_BITS = 31


class Note(Protocol):
    """Takes one sentence for the report."""

    def __call__(self, text: str, /) -> None: ...


class Counted:
    """A stream that counts what is read from it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.bytes = 0

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes."""
        data = self._stream.read(size)
        self.bytes += len(data)
        return data


def gunzip(name: str, stream: BinaryIO, note: Note) -> Iterator[bytes]:
    """Blocks of a gzip stream of one or many members. Raises UsageError above the caps."""
    source = Counted(stream)
    return _capped(name, source, _members(name, source, note))


def unzstd(name: str, stream: BinaryIO, note: Note) -> Iterator[bytes]:
    """Blocks of a zstd stream. Raises UsageError above the caps or where the zstandard package is not installed."""
    try:
        import zstandard
    except ImportError:
        raise UsageError(
            f"log {name}: zstd-compressed, and the zstandard package is not installed; "
            f"`pip install zstandard`, or `zstd -dc {name} | doctor triage -`"
        ) from None
    source = Counted(stream)
    return _capped(name, source, _frames(name, source, note, zstandard))


def _members(name: str, source: Counted, note: Note) -> Iterator[bytes]:
    inflater, pending = zlib.decompressobj(GZIP_BITS), source.read(BLOCK)
    while pending:
        try:
            block = inflater.decompress(pending, BLOCK)
        except zlib.error as damaged:
            note(f"{name}: gzip data is damaged ({damaged}); what comes after is not read")
            return
        if block:
            yield block
        pending = inflater.unconsumed_tail
        if inflater.eof:
            pending = inflater.unused_data.lstrip(b"\0")
            inflater = zlib.decompressobj(GZIP_BITS) if pending or (pending := source.read(BLOCK)) else inflater
        pending = pending or source.read(BLOCK)
    if not inflater.eof:
        note(f"{name}: gzip data ends early; the log may go on")


def _frames(name: str, source: Counted, note: Note, zstandard: Any) -> Iterator[bytes]:
    reader = zstandard.ZstdDecompressor(max_window_size=WINDOW_CAP).stream_reader(source, read_across_frames=True)
    while True:
        try:
            block = reader.read(BLOCK)
        except zstandard.ZstdError as damaged:
            note(f"{name}: zstd data is damaged or needs a window above 64 MiB ({damaged}); the rest is not read")
            return
        if not block:
            return
        yield block


def _capped(name: str, source: Counted, blocks: Iterator[bytes]) -> Iterator[bytes]:
    grown = 0
    for block in blocks:
        grown += len(block)
        if grown > SIZE_CAP or (grown > FREE and grown > RATIO_CAP * source.bytes):
            raise UsageError(
                f"log {name}: {source.bytes} compressed bytes grew to more than {grown - 1} "
                f"(allowed: {RATIO_CAP}-fold and {SIZE_CAP >> 30} GiB); decompress it and give the part that matters"
            )
        yield block
