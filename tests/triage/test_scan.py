"""Regions hold every hit with its neighbourhood, in order, with the right line numbers, whatever the block size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.triage import scan
from ddtree_doctor.triage.scan import BEFORE, LITERALS, LONG, OPENING, OPENINGS, Scanner, regions

FILLER = b'INFO:     10.0.0.1:1 - "POST /v1/chat/completions HTTP/1.1" 200 OK'


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def numbered(found) -> dict[int, bytes]:
    """Line number → line, of all regions; overlapping or disordered regions fail here."""
    lines: dict[int, bytes] = {}
    after = 0
    for region in found:
        assert region.line >= after
        for number, line in enumerate(region.data.removesuffix(b"\n").split(b"\n"), start=region.line):
            assert number not in lines
            lines[number] = line
        after = region.line + region.data.count(b"\n")
    return lines


def long_log(*planted: tuple[int, bytes], lines: int = 60_000) -> list[bytes]:
    log = [FILLER] * lines
    for number, line in planted:
        log[number - 1] = line
    return log


@pytest.mark.parametrize("size", [7_001, 65_536, 1 << 20, 1 << 26])
def test_a_planted_line_is_found_with_its_number_and_neighbours(size):
    log = long_log((30_000, b"RuntimeError: planted"), (59_999, b"Traceback (most recent call last):"))

    lines = numbered(regions(cut(b"\n".join(log), size)))

    assert lines[30_000] == b"RuntimeError: planted"
    assert lines[29_900] == lines[30_100] == FILLER
    assert lines[59_999].startswith(b"Traceback")
    assert 25_000 not in lines


def test_the_opening_is_parsed_whole_and_the_rest_of_an_ordinary_log_is_not():
    lines = numbered(regions(cut(b"\n".join(long_log()), 1 << 20)))

    assert OPENING < sum(len(line) + 1 for line in lines.values()) < OPENING + 2 * BEFORE
    assert max(lines) == len(lines)


def test_a_launch_in_the_middle_opens_again():
    lines = numbered(regions(cut(b"\n".join(long_log((40_000, b"server_args=ServerArgs()"))), 1 << 20)))

    assert 40_000 + OPENING // len(FILLER) // 2 in lines


@pytest.mark.parametrize(("guard", "literal"), [*LITERALS, *OPENINGS])
def test_every_literal_holds_its_guard(guard, literal):
    assert guard in literal
    assert len(guard) == 1


def test_the_last_batch_line_before_a_hit_comes_along():
    log = long_log(
        (30_000, b"[x] Decode batch, #running-req: 33, #token: 1"), (45_000, b"RuntimeError: planted"), lines=50_000
    )

    found = list(regions([b"\n".join(log)]))

    assert b"#running-req: 33" in found[-1].batch


def test_lines_without_end_come_in_pieces_and_memory_stays_bounded():
    scanner = Scanner()
    for _ in range(64):
        for region in scanner.feed(b"x" * LONG):
            assert len(region.data) <= 4 * LONG
        assert len(scanner._buffer) <= 3 * LONG
    list(scanner.close())

    assert scanner.line == 1


def test_nul_bytes_are_dropped():
    assert b"".join(region.data for region in regions([b"a\0b\n\0\0c"])) == b"ab\nc"


@pytest.mark.parametrize(("data", "lines"), [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n", 2)])
def test_lines_are_counted(data, lines):
    scanner = Scanner()
    list(scanner.feed(data))
    list(scanner.close())

    assert scanner.line == lines


PIECES = st.lists(
    st.sampled_from(
        [
            b"\n",
            b"x",
            FILLER + b"\n",
            b"RuntimeError: y\n",
            b"server_args=\n",
            b"\r",
            b"\0",
            b"SIG",
            FILLER * 30 + b"\n",
        ]
    )
)


@given(PIECES, st.integers(1, 5_000))
def test_blocks_make_no_difference(pieces, size):
    data = b"".join(pieces)

    assert numbered(regions(cut(data, size))) == numbered(regions([data]))


@given(st.binary(), st.integers(1, 64))
def test_never_raises(data, size):
    numbered(regions(cut(data, size)))


def test_a_flood_of_hits_is_sought_in_strides():
    data = b"Error\n" * 200_000
    scanner = Scanner()
    scanner._owed = 0
    scanner._buffer = data

    hits = sum(1 for _ in scanner._hits(len(data)))

    assert hits <= len(data) // scan.STRIDE + 1
