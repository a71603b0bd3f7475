"""What is no log gets one message that says what it is; what is one comes out as it went in."""

import contextlib
import gzip
import io
import os
import subprocess
import sys
import tarfile
import time
import zipfile

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.errors import DoctorError, UsageError
from ddtree_doctor.triage.source import blocks

TEXT = b"[2026-05-11 12:00:00] hello\n" * 100


def read(path) -> bytes:
    return b"".join(blocks(str(path), lambda note: None))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_reads_plain_and_packed_by_content_not_by_name(tmp_path, pack):
    path = tmp_path / "any.name"
    path.write_bytes(pack(TEXT))

    assert read(path) == TEXT


def refused(path, words):
    with pytest.raises(UsageError, match=words) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_status == 2


def test_a_missing_file_is_refused(tmp_path):
    refused(tmp_path / "nope.log", "No such file")


def test_a_directory_is_refused_with_what_to_give_instead(tmp_path):
    refused(tmp_path, r"is a directory; name the log files in it: doctor triage .*/\*\.log")


def test_an_unreadable_name_is_refused():
    refused("a\0b", "null byte")


def test_a_device_is_refused():
    refused("/dev/zero", "is a device")


@pytest.mark.parametrize("data", [b"", b"\0" * 100])
def test_an_empty_file_is_refused(tmp_path, data):
    path = tmp_path / "empty.log"
    path.write_bytes(data)

    refused(path, "is empty or holds nothing but NUL bytes")


def zipped(data: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.log", data)
    return packed.getvalue()


def tarred(data: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        member = tarfile.TarInfo("a.log")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (zipped(TEXT), "zip archive"),
        (tarred(TEXT), "tar archive"),
        (gzip.compress(tarred(TEXT)), "tar archive"),
        (zstandard.compress(zipped(TEXT)), "zip archive"),
        (gzip.compress(gzip.compress(TEXT)), "compressed twice"),
        (gzip.compress(b""), "nothing can be read from it"),
        (b"\xfd7zXZ\x00" + os.urandom(100), "xz-compressed"),
        (b"BZh91AY&SY" + os.urandom(100), "bzip2-compressed"),
        (b"\x7fELF" + os.urandom(100), "a program or core dump"),
        (b"\x89PNG\r\n\x1a\n" + os.urandom(100), "a picture"),
        (b"SQLite format 3\x00" + os.urandom(100), "a database"),
        (bytes(range(256)) * 40, "binary"),
        (b"\x80\x04\x95" + bytes(range(32)) * 40, "binary"),
    ],
)
def test_what_is_no_text_is_refused_by_name(tmp_path, data, words):
    path = tmp_path / "odd.log"
    path.write_bytes(data)

    refused(path, words)


def test_a_sparse_file_of_two_gigabytes_is_refused_at_once(tmp_path):
    path = tmp_path / "sparse.log"
    with path.open("wb") as file:
        file.truncate(2 << 30)
    began = time.perf_counter()

    refused(path, "is empty or holds nothing but NUL bytes")
    assert time.perf_counter() - began < 20


def test_text_after_a_hole_is_read(tmp_path):
    """What a log that was cut by copytruncate looks like."""
    path = tmp_path / "rotated.log"
    with path.open("wb") as file:
        file.truncate(1 << 30)
        file.seek(1 << 30)
        file.write(TEXT)

    assert read(path).lstrip(b"\0") == TEXT


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_read(tmp_path, encoding):
    path = tmp_path / "windows.log"
    path.write_bytes(("\ufeff" + TEXT.decode()).encode(encoding))

    assert read(path) == TEXT


def test_stray_nul_bytes_and_invalid_text_do_not_make_it_binary(tmp_path):
    path = tmp_path / "dirty.log"
    path.write_bytes(TEXT + b"\0\0 caf\xe9 \xff\n" + TEXT)

    assert read(path).startswith(TEXT)


def test_a_pipe_is_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = subprocess.Popen([sys.executable, "-c", f"open({str(pipe)!r}, 'wb').write(b'hello\\n')"])

    assert read(pipe) == b"hello\n"
    assert writer.wait(30) == 0


def test_standard_input_is_read(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT)))

    assert read("-") == TEXT


def test_a_read_that_fails_half_way_is_no_verdict():
    class Torn(io.RawIOBase):
        def read(self, size=-1):
            raise OSError(5, "Input/output error")

    from ddtree_doctor.triage.source import _raw

    with pytest.raises(DoctorError, match="reading failed: Input/output error") as caught:
        list(_raw("x", Torn()))
    assert caught.value.exit_status == 3


@given(st.binary(min_size=1))
def test_any_bytes_are_read_or_refused(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.log"
    path.write_bytes(data)
    with contextlib.suppress(UsageError):
        read(path)
