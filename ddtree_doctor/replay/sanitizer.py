"""What compute-sanitizer printed, as accesses. Pure: its text in, numbers out; any text at all, and nothing is raised.

Forms: https://docs.nvidia.com/compute-sanitizer/ComputeSanitizer/index.html (memcheck, initcheck, racecheck).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ddtree_doctor.replay.record import Access

__all__ = ["TOOLS", "complete", "read_report"]

TOOLS = ("memcheck", "initcheck", "racecheck")
LONGEST = 400

_MARK = "========="
_INVALID = re.compile(r"Invalid __(?P<space>\w+)__ (?P<kind>\w+) of size (?P<width>[\d,]+) bytes?")
_UNSET = re.compile(r"Uninitialized __(?P<space>\w+)__ memory (?P<kind>\w+) of size (?P<width>[\d,]+) bytes?")
_RACE = re.compile(r"(?:Error|Warning): Race reported between (?P<one>\w+) access at (?P<at>\S.*)")
_OTHER_SIDE = re.compile(r"and (?P<other>\w+) access at \S.*?(?:\[(?P<count>[\d,]+) hazards?\])?$")
_AT = re.compile(r"at (?P<kernel>.+?)\+0x[0-9a-f]+(?: in (?P<file>\S+))?$")
_NEAR = re.compile(
    r"and is (?:(?P<far>[\d,]+) bytes? (?P<side>before|after)|inside) the nearest allocation at 0x[0-9a-f]+ "
    r"of size (?P<size>[\d,]+) bytes?"
)
_SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: ")


def read_report(text: str, scenario: str = "") -> tuple[Access, ...]:
    """Each different thing that was reported, once, in the order of first sight.

    `offset` counts bytes from the first byte of the nearest allocation, which `size` is the size of; both are 0 where
    the report names none.
    """
    found = (access for block in _blocks(text) if (access := _access(block, scenario)))
    return tuple(dict.fromkeys(found))


def complete(text: str) -> bool:
    """Whether the tool came to its summary; without one it was cut short, and no report means nothing."""
    return any(line.startswith(_MARK) and _SUMMARY.search(line) for line in text.splitlines())


def _blocks(text: str) -> Iterator[list[str]]:
    """The lines of each report without the mark; a line that is not indented begins one."""
    block: list[str] = []
    for line in text.splitlines():
        if not line.startswith(_MARK):
            continue
        body = line[len(_MARK) : len(_MARK) + LONGEST]
        if body[:2].strip() and not body.startswith("  "):
            if block:
                yield block
            block = []
        if body.strip():
            block.append(body.strip())
    if block:
        yield block


def _access(block: Sequence[str], scenario: str) -> Access | None:
    head, *rest = block
    if race := _RACE.match(head):
        return _race(race, rest, scenario)
    for pattern, word in ((_INVALID, "invalid"), (_UNSET, "uninitialized")):
        if match := pattern.match(head):
            what = f"{word} {match['space']} {match['kind']} of {match['width']} bytes"
            offset, size = _place(rest)
            return Access(where=_where(rest), access=what, offset=offset, size=size, scenario=scenario)
    return None


def _race(match: re.Match[str], rest: Sequence[str], scenario: str) -> Access:
    other = next((found for line in rest if (found := _OTHER_SIDE.match(line))), None)
    kinds = f"{match['one'].lower()} and {other['other'].lower() if other else 'another access'}"
    return Access(where=_where([f"at {match['at']}"]), access=f"race of {kinds}", offset=0, size=0, scenario=scenario)


def _where(lines: Sequence[str]) -> str:
    """`kernel (file:line)` of the first line that places the access."""
    for line in lines:
        if match := _AT.match(line):
            return match["kernel"] + (f" ({match['file']})" if match["file"] else "")
    return "a kernel without a name"


def _place(lines: Sequence[str]) -> tuple[int, int]:
    """Offset from the nearest allocation's first byte, and its size."""
    near = next((match for line in lines if (match := _NEAR.match(line))), None)
    if near is None:
        return 0, 0
    size = _number(near["size"])
    far = _number(near["far"]) if near["far"] else 0
    # The byte right behind an allocation is "1 bytes after" it.
    return {"before": -far, "after": size + far - 1}.get(near["side"], 0), size


def _number(text: str) -> int:
    digits = text.replace(",", "")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 20 else 0
