import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.triage.events import Notice, event
from ddtree_doctor.triage.model import Line, Place

NOTICES = (Notice(literals=("length of ",), patterns=(re.compile(r"length of \w+: \d+ != "),), kind="notice"),)


def seen(text, level=""):
    return event(Line(place=Place(file="f", line=1, text=text), level=level), NOTICES)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("CUDA error: an illegal memory access was encountered", "device"),
        ("/pytorch/aten/Indexing.cu:1: block: [0,0,0] Assertion `srcIndex < srcSelectDimSize` failed.", "device"),
        ("NVRM: Xid (PCI:0000:01:00): 31, pid=1, MMU Fault", "device"),
        ("Xid 31 MMU fault VIRT_READ", "device"),
        ("hipErrorStreamCaptureInvalidated", "device"),
        ("Fatal Python error: Segmentation fault", "signal"),
        ("Out of memory: Killed process 77 (python)", "signal"),
        ("[Rank 1] Watchdog caught collective operation timeout: WorkNCCL", "timeout"),
        ("Health check failed. Server couldn't get a response", "timeout"),
        ("length of new_indices: 5 != length of topk_p: 7", "notice"),
        ("something failed here", "complaint"),
    ],
)
def test_a_telling_line_is_a_fault_of_its_kind(text, kind):
    assert seen(text).kind == kind


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("Load weight end. avail mem=20 GB", ""),
        ("For debugging consider passing CUDA_LAUNCH_BLOCKING=1", ""),
        ("CUDA kernel errors might be asynchronously reported at some other API call", ""),
        ("CUDA error: retrying", "INFO"),
        ("CUDA error: retrying", "WARNING"),
        ("length of prompt: 5", ""),
        ("Aixid 31", ""),
    ],
)
def test_an_ordinary_line_is_none(text, level):
    assert seen(text, level) is None


def test_a_notice_in_a_warning_is_one():
    assert seen("length of a: 5 != length of b: 7", "WARNING").kind == "notice"


@given(st.text(), st.sampled_from(["", "INFO", "ERROR", "WARNING"]))
def test_never_raises(text, level):
    seen(text, level)
