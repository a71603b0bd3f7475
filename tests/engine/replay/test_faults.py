"""An error on a GPU by its text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.engine.replay.faults import FAULT, MEMORY, OTHER, REFUSED, kind_of


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("AcceleratorError: CUDA error: an illegal memory access was encountered", FAULT),
        ("AcceleratorError: CUDA error: device-side assert triggered", FAULT),
        ("RuntimeError: Triton Error [CUDA]: misaligned address", FAULT),
        ("Exception: Capture cuda graph failed: CUDA error: unspecified launch failure", FAULT),
        ("RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx`", FAULT),
        ("OutOfMemoryError: CUDA out of memory. Tried to allocate 1024.00 GiB.", MEMORY),
        ("RuntimeError: CUDA error: out of memory", MEMORY),
        ("RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", MEMORY),
        ("RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.", MEMORY),
        ("NotImplementedError: no tree mask here", REFUSED),
        ("AssertionError: page size 64 only", REFUSED),
        ("ImportError: Can not import FA3 in sgl_kernel. Please check your installation.", REFUSED),
        ("RuntimeError: The size of tensor a (8) must match the size of tensor b (33)", OTHER),
        ("Exception: Capture cuda graph failed: The size of tensor a (8) must match tensor b (33)", OTHER),
        ("OutOfResources: out of resource: shared memory, Required: 262144, Hardware limit: 232448", OTHER),
        ("", OTHER),
    ],
)
def test_each_error_has_its_kind(error: str, kind: str):
    assert kind_of(error) == kind


@given(st.text())
def test_any_text_has_a_kind(text: str):
    assert kind_of(text) in (FAULT, MEMORY, REFUSED, OTHER)
