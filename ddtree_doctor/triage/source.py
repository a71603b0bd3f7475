"""Inputs of `doctor triage` as streams of blocks: plain, gzip or zstd files, pipes and standard input.

What is no log gets one message that says what it is and what to give instead.
"""

from __future__ import annotations

import codecs
import os
import stat
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from ddtree_doctor.errors import DoctorError, UsageError
from ddtree_doctor.triage.inflate import BLOCK, Note, gunzip, unzstd

__all__ = ["blocks"]

SNIFF = 64 * 1024
UNPACK = "unpack it and name the log files in it"
MAGIC = (
    (b"PK\x03\x04", "a zip archive", UNPACK),
    (b"PK\x05\x06", "an empty zip archive", UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (b"Rar!\x1a\x07", "a rar archive", UNPACK),
    (b"!<arch>\n", "an ar archive", UNPACK),
    (b"\xfd7zXZ\x00", "xz-compressed", "pipe it in: xz -dc FILE | doctor triage -"),
    (b"BZh", "bzip2-compressed", "pipe it in: bzip2 -dc FILE | doctor triage -"),
    (b"\x04\x22\x4d\x18", "lz4-compressed", "pipe it in: lz4 -dc FILE | doctor triage -"),
    (b"\x7fELF", "a program or core dump", "give the server's log"),
    (b"%PDF", "a PDF", "give the log as text"),
    (b"\x89PNG", "a picture", "give the log as text"),
    (b"\xff\xd8\xff", "a picture", "give the log as text"),
    (b"SQLite format 3\x00", "a database", "give the server's log"),
)
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
TEXTUAL = bytes({*range(0x20, 0x7F), *range(0x80, 0x100), *b"\t\n\r\x0b\x0c\x08\x1b\x07"})
CONTROL_SHARE = 0.04
UNDECODABLE_SHARE = 0.2
SPECIAL = ((stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"), (stat.S_ISSOCK, "a socket"))


def blocks(path: str, note: Note) -> Iterator[bytes]:
    """The text of `path` (`-`: standard input) in blocks; `note` takes what the report should say about the reading.

    Raises UsageError for what is no log, DoctorError where reading fails half-way.
    """
    if path == "-":
        yield from _opened("standard input", sys.stdin.buffer, note)
        return
    _refuse_special(path)
    try:
        with open(path, "rb", buffering=0) as stream:
            _skip_hole(stream)
            yield from _opened(path, stream, note)
    except OSError as refused:
        raise UsageError(f"log {path}: cannot be read: {refused.strerror}; check the name and permissions") from None


def _refuse_special(path: str) -> None:
    try:
        info = Path(path).stat()
    except (OSError, ValueError) as missing:
        why = getattr(missing, "strerror", None) or str(missing)
        raise UsageError(f"log {path}: {why}; give a log file, or - for standard input") from None
    if stat.S_ISDIR(info.st_mode):
        raise UsageError(
            f"log {path}: is a directory; name the log files in it: doctor triage {path.rstrip('/')}/*.log"
        )
    for test, what in SPECIAL:
        if test(info.st_mode):
            raise UsageError(f"log {path}: is {what}, not a log; give a file, or - for standard input")


def _opened(name: str, stream: BinaryIO, note: Note) -> Iterator[bytes]:
    raw = _raw(name, stream)
    head = _head(raw)
    if not head:
        raise UsageError(f"log {name}: is empty or holds nothing but NUL bytes; give a log with text in it")
    inflate = gunzip if head.startswith(GZIP) else unzstd if head.startswith(ZSTD) else None
    if inflate is None:
        yield from _text(name, head, raw)
        return
    plain = inflate(name, _Joined(chain([head], raw)), note)  # type: ignore[arg-type]
    head = _head(plain)
    if not head:
        raise UsageError(f"log {name}: compressed, and nothing can be read from it; check that it is complete")
    if head.startswith((GZIP, ZSTD)):
        raise UsageError(f"log {name}: is compressed twice; decompress it once and try again")
    yield from _text(name, head, plain)


def _text(name: str, head: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if head.startswith(UTF16):
        decode = codecs.getincrementaldecoder("utf-16")("replace").decode
        yield from (decode(block).encode() for block in chain([head], rest))
        return
    _refuse_binary(name, head[:SNIFF])
    yield from chain([head], rest)


def _refuse_binary(name: str, sample: bytes) -> None:
    for magic, what, instead in MAGIC:
        if sample.startswith(magic):
            raise UsageError(f"log {name}: is {what}, not a log; {instead}")
    if sample[257:262] == b"ustar":
        raise UsageError(f"log {name}: is a tar archive, not a log; {UNPACK}")
    control = len(sample.translate(None, TEXTUAL + b"\0"))
    undecodable = len(sample) - len(sample.decode("utf-8", "ignore").encode())
    if control > CONTROL_SHARE * len(sample) or undecodable > UNDECODABLE_SHARE * len(sample):
        raise UsageError(f"log {name}: is binary, not text; give the server's log")


def _head(raw: Iterator[bytes]) -> bytes:
    """The first block that is more than NUL bytes, without those it starts with (a truncated log starts so)."""
    return next((head for block in raw if (head := block.lstrip(b"\0"))), b"")


def _raw(name: str, stream: BinaryIO) -> Iterator[bytes]:
    try:
        while block := stream.read(BLOCK):
            yield block
    except OSError as failed:
        raise DoctorError(f"log {name}: reading failed: {failed.strerror}; no verdict") from None


def _skip_hole(stream: BinaryIO) -> None:
    """Go to the first byte that is stored: a sparse file may begin with gigabytes that are not."""
    if not hasattr(os, "SEEK_DATA") or not stream.seekable():
        return
    try:
        stream.seek(0, os.SEEK_DATA)
    except OSError:  # all hole (ENXIO), or a file system without the notion
        stream.seek(0, os.SEEK_END if _all_hole(stream) else os.SEEK_SET)


def _all_hole(stream: BinaryIO) -> bool:
    try:
        return os.lseek(stream.fileno(), 0, os.SEEK_HOLE) == 0
    except OSError:
        return False


class _Joined:
    """Blocks as a stream to read from."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, b"" at the end."""
        data = self._rest or next(self._parts, b"")
        if 0 <= size < len(data):
            data, self._rest = data[:size], data[size:]
        else:
            self._rest = b""
        return data
