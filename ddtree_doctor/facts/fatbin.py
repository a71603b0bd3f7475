"""GPU architectures that a shared library carries, read from its ELF headers without loading it.

nvcc puts device code into a section `.nv_fatbin`: a chain of fat binaries, each a 16-byte header (magic, version,
header size, size of the rest) and entries with a header of their own (kind 1 PTX or 2 ELF, header size, payload size,
architecture at byte 28, flags at byte 40). Only headers are touched, so a library of 1 GB costs milliseconds. The
flags of the suffixes `a` and `f` were found by compiling one kernel for sm_90, 90a, 100, 100a, 100f, 103f, 120a and
120f with CUDA 13.0's nvcc; the entries of sglang-kernel 0.4.10 and torch 2.14.1 agree with `cuobjdump --list-elf`.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from ddtree_doctor.facts.archs import architecture_order

__all__ = ["library_archs"]

_MAGIC = 0xBA55ED50
_KINDS = {1: "compute", 2: "sm"}
_SUFFIXES = ((0x100000, "a"), (0x200000, "f"))
_MOST_BINARIES = 64
_MOST_ENTRIES = 64
_SECTIONS = (b".nv_fatbin", b"__nv_relfatbin")


def library_archs(path: Path, *, most: int = _MOST_BINARIES) -> tuple[str, ...] | None:
    """The architectures in the first `most` fat binaries of the library at `path`, sorted; None if it cannot be read.

    One fat binary is one source file, and a build gives nearly all of its files the same architectures, so the first
    64 tell what the library was built for without reading through half a gigabyte.
    """
    try:
        with path.open("rb") as file, closing(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)) as image:
            return tuple(sorted(set(_archs(image, most)), key=architecture_order))
    except (OSError, ValueError, OverflowError, struct.error):
        return None


def _archs(image: mmap.mmap, most: int) -> Iterator[str]:
    for start, end in _device_sections(image):
        for _ in range(most):
            if start + 16 > end:
                break
            magic, _, header, size = struct.unpack_from("<IHHQ", image, start)
            if magic != _MAGIC or header < 16:
                break
            yield from _entries(image, start + header, min(start + header + size, end))
            # The compiler aligns the next fat binary to eight bytes.
            start = (start + header + size + 7) & ~7


def _entries(image: mmap.mmap, start: int, end: int) -> Iterator[str]:
    for _ in range(_MOST_ENTRIES):
        if start + 48 > end:
            return
        kind, _, header, size = struct.unpack_from("<HHIQ", image, start)
        if header < 48:
            return
        (arch,), (flags,) = struct.unpack_from("<I", image, start + 28), struct.unpack_from("<Q", image, start + 40)
        if kind in _KINDS and 10 <= arch <= 999:
            yield f"{_KINDS[kind]}_{arch}" + next((letter for bit, letter in _SUFFIXES if flags & bit), "")
        start += header + size


def _device_sections(image: mmap.mmap) -> Iterator[tuple[int, int]]:
    """(start, end) of the sections that hold device code, of a 64-bit little-endian ELF file."""
    if image[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit little-endian ELF file")
    (table,) = struct.unpack_from("<Q", image, 0x28)
    entry, count, names = struct.unpack_from("<HHH", image, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", image, table + index * entry) for index in range(count)]
    if names >= count:
        raise ValueError("no section names")
    strings = headers[names][4]
    for name, _, _, _, offset, size in headers:
        end = image.find(b"\0", strings + name, strings + name + 64)
        if image[strings + name : end] in _SECTIONS:
            yield offset, min(offset + size, len(image))
