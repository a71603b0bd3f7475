import pytest

from ddtree_doctor.triage.device import KINDS, asynchronous, kinds


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("CUDA error: an illegal memory access was encountered", "ima"),
        ("Search for `cudaErrorIllegalAddress' in", "ima"),
        ("CUDA error: device-side assert triggered", "assert"),
        ("CUDA error: unspecified launch failure", "launch-failure"),
        ("vectorized_gather_kernel: index out of bounds", "oob"),
        ("operation not permitted when stream is capturing", "capture"),
        ("no kernel image is available for execution on the device", "no-image"),
        ("CUDA out of memory. Tried to allocate 2 GiB", "oom"),
        ("NaN in the logits", "nan"),
        ("NVRM: Xid (PCI:0000:01:00): 13", "xid"),
    ],
)
def test_each_kind_is_recognised(text, kind):
    assert kind in kinds(text)


def test_every_kind_has_a_case_above():
    assert len(KINDS) == 9


def test_an_ordinary_error_is_of_no_kind():
    assert kinds("RuntimeError: The size of tensor a (8) must match the size of tensor b (33)") == ()


@pytest.mark.parametrize(
    ("text", "blocking", "expected"),
    [
        ("CUDA error: an illegal memory access was encountered", False, True),
        ("CUDA error: an illegal memory access was encountered", True, False),
        ("fused_norm_rope_v2.cuh:601: CUDA error: an illegal memory access was encountered", False, False),
        ("CUDA out of memory", False, False),
    ],
)
def test_an_asynchronous_error_is_one_unless_launches_block_or_the_kernel_names_its_line(text, blocking, expected):
    assert asynchronous(text, blocking) is expected
