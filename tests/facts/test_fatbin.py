import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.facts.fatbin import library_archs

ELF, PTX = 2, 1
FEATURE = {"": 0, "a": 0x100000, "f": 0x200000}


def entry(kind, arch, suffix="", payload=24):
    header = struct.pack("<HHIQ", kind, 0x101, 64, payload) + bytes(12) + struct.pack("<I", arch) + bytes(8)
    return (header + struct.pack("<Q", 0x11 | FEATURE[suffix])).ljust(64, b"\0") + bytes(payload)


def fat_binary(*entries):
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def shared_library(device_code, section=b".nv_fatbin"):
    """A minimal 64-bit ELF file with one section of device code and one of section names."""
    names = b"\0" + section + b"\0.shstrtab\0"
    start = 64
    table = start + len(device_code) + len(names)
    headers = [
        struct.pack("<IIQQQQ", 0, 0, 0, 0, 0, 0),
        struct.pack("<IIQQQQ", 1, 1, 0, 0, start, len(device_code)),
        struct.pack("<IIQQQQ", 2 + len(section), 3, 0, 0, start + len(device_code), len(names)),
    ]
    header = b"\x7fELF\x02\x01".ljust(0x28, b"\0") + struct.pack("<Q", table)
    header = header.ljust(0x3A, b"\0") + struct.pack("<HHH", 64, 3, 2)
    return header.ljust(start, b"\0") + device_code + names + b"".join(h.ljust(64, b"\0") for h in headers)


def test_architectures_are_read_with_their_suffixes(tmp_path):
    library = tmp_path / "lib.so"
    library.write_bytes(
        shared_library(
            fat_binary(entry(ELF, 80), entry(ELF, 90, "a"), entry(ELF, 100, "f"))
            + fat_binary(entry(ELF, 120, "a"), entry(PTX, 90))
        )
    )
    assert library_archs(library) == ("sm_80", "compute_90", "sm_90a", "sm_100f", "sm_120a")


def test_only_the_first_fat_binaries_are_read_when_asked(tmp_path):
    library = tmp_path / "lib.so"
    library.write_bytes(shared_library(fat_binary(entry(ELF, 80)) + fat_binary(entry(ELF, 90))))
    assert library_archs(library, most=1) == ("sm_80",)


def test_a_library_without_device_code_carries_none(tmp_path):
    library = tmp_path / "lib.so"
    library.write_bytes(shared_library(b"", section=b".text"))
    assert library_archs(library) == ()


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"not a library at all", b"\x7fELF\x01\x01" + bytes(100)])
def test_what_is_no_library_gives_no_answer(tmp_path, content):
    library = tmp_path / "lib.so"
    library.write_bytes(content)
    assert library_archs(library) is None
    assert library_archs(tmp_path / "absent.so") is None
    assert library_archs(tmp_path) is None


@given(st.data())
def test_no_damage_to_a_library_raises(tmp_path_factory, data):
    good = bytearray(shared_library(fat_binary(entry(ELF, 80), entry(ELF, 90, "a"))))
    for _ in range(data.draw(st.integers(1, 12))):
        good[data.draw(st.integers(0, len(good) - 1))] = data.draw(st.integers(0, 255))
    library = tmp_path_factory.getbasetemp() / "damaged.so"
    library.write_bytes(bytes(good[: data.draw(st.integers(0, len(good)))]))
    archs = library_archs(library)
    assert archs is None or all(arch.startswith(("sm_", "compute_")) for arch in archs)


@pytest.mark.engine
def test_the_installed_kernel_wheel_is_read_as_cuobjdump_lists_it():
    from ddtree_doctor.facts.packages import installed

    package = installed().package("sglang-kernel")
    assert package is not None
    assert package.archs is not None
    assert {"sm_90a", "sm_120a"} <= set(package.archs)
