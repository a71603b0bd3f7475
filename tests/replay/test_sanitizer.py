"""compute-sanitizer's reports, in the words of its manual and of a run on an H200."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.replay.record import Access
from ddtree_doctor.replay.sanitizer import complete, read_report

BEHIND = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 8 bytes
=========     at stray_store+0x70 in _stray.py:21
=========     by thread (0,0,0) in block (0,0,0)
=========     Access to 0x7f6a9e000210 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f6a9e000000 of size 528 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: cuLaunchKernel [0x2f1b4] in libcuda.so.1
=========
========= ERROR SUMMARY: 1 error
"""
FAR_BEFORE = """\
========= Invalid __global__ read of size 2 bytes
=========     at _fwd_kernel(float *, int)+0xe0
=========     by thread (32,0,0) in block (1,0,0)
=========     Access to 0x87654320 is out of bounds
=========     and is 140,419 bytes before the nearest allocation at 0x7fb654c00000 of size 1,024 bytes
"""
UNSET = """\
========= Uninitialized __global__ memory read of size 4 bytes
=========     at vectorAdd(int *, int *)+0x70 in add.cu:9
=========     by thread (65,0,0) in block (0,0,0)
=========     Access to 0x7fa000000104
"""
RACE = """\
========= Error: Race reported between Write access at sumKernel(int *, int *)+0x91 in racecheck_demo.cu:18
=========     and Read access at sumKernel(int *, int *)+0x2d1 in racecheck_demo.cu:27 [508 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""


def test_the_byte_right_behind_an_allocation_has_its_size_as_offset():
    assert read_report(BEHIND, "captured/2") == (
        Access(
            where="stray_store (_stray.py:21)",
            access="invalid global write of 8 bytes",
            offset=528,
            size=528,
            scenario="captured/2",
        ),
    )


def test_what_lies_before_an_allocation_is_negative_and_thousands_are_read():
    assert read_report(FAR_BEFORE) == (
        Access(where="_fwd_kernel(float *, int)", access="invalid global read of 2 bytes", offset=-140419, size=1024),
    )


def test_a_read_of_memory_that_nothing_wrote_names_no_allocation():
    (access,) = read_report(UNSET)
    assert (access.access, access.offset, access.size) == ("uninitialized global read of 4 bytes", 0, 0)


def test_a_race_names_both_accesses():
    (access,) = read_report(RACE)
    assert (access.where, access.access) == ("sumKernel(int *, int *) (racecheck_demo.cu:18)", "race of write and read")


def test_one_fault_of_many_threads_is_reported_once():
    other_thread = BEHIND.replace("thread (0,0,0)", "thread (1,0,0)")
    assert len(read_report(BEHIND + other_thread)) == 1


def test_only_a_run_that_came_to_its_summary_is_complete():
    assert complete(BEHIND)
    assert complete(RACE)
    assert not complete(FAR_BEFORE)


def test_what_the_program_itself_prints_is_passed_over():
    assert read_report("Invalid __global__ write of size 8 bytes\n  at kernel+0x0\n") == ()


@given(st.lists(st.sampled_from([*BEHIND.splitlines(), *RACE.splitlines(), "=========", "========= x"]) | st.text()))
def test_no_text_is_refused(lines: list[str]):
    for access in read_report("\n".join(lines)):
        assert access.where
        assert access.access
