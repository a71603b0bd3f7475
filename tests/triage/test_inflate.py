"""Compressed logs are read as far as they go, and no further than the caps."""

import gzip
import io
import sys

import pytest
import zstandard

from ddtree_doctor.errors import UsageError
from ddtree_doctor.triage import inflate
from ddtree_doctor.triage.inflate import gunzip, unzstd

TEXT = b"".join(b"line %d\n" % number for number in range(20_000))
PACKERS = [(gzip.compress, gunzip), (zstandard.compress, unzstd)]


def read(unpack, data):
    notes = []
    return b"".join(unpack("log", io.BytesIO(data), notes.append)), notes


@pytest.mark.parametrize(("pack", "unpack"), PACKERS)
def test_reads_what_was_packed(pack, unpack):
    assert read(unpack, pack(TEXT)) == (TEXT, [])


@pytest.mark.parametrize(("pack", "unpack"), PACKERS)
def test_reads_several_members(pack, unpack):
    assert read(unpack, pack(TEXT) + pack(b"more\n"))[0] == TEXT + b"more\n"


def test_a_gzip_that_ends_early_is_read_as_far_as_it_goes():
    text, notes = read(gunzip, gzip.compress(TEXT)[:-100])

    assert TEXT.startswith(text)
    assert "ends early" in notes[0]


@pytest.mark.parametrize(("pack", "unpack"), PACKERS)
def test_damage_is_noted_and_not_raised(pack, unpack):
    packed = bytearray(pack(TEXT))
    packed[len(packed) // 2 : len(packed) // 2 + 40] = b"\xff" * 40

    text, _ = read(unpack, bytes(packed))

    assert len(text) <= len(TEXT) * 2


@pytest.mark.parametrize(("pack", "unpack"), PACKERS)
def test_a_bomb_is_refused_by_its_ratio(pack, unpack):
    with pytest.raises(UsageError, match="200-fold"):
        read(unpack, pack(b"\n" * (96 << 20)))


def test_a_flood_is_refused_by_its_size(monkeypatch):
    monkeypatch.setattr(inflate, "SIZE_CAP", 100_000)

    with pytest.raises(UsageError, match="log log: "):
        read(gunzip, gzip.compress(TEXT))


def test_without_the_package_zstd_gets_one_clear_message(monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)

    with pytest.raises(UsageError, match="pip install zstandard"):
        read(unzstd, zstandard.compress(TEXT))
