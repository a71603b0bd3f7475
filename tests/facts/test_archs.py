import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.facts.archs import architecture_order, carry, runs
from ddtree_doctor.facts.gpus import CAPABILITIES


@pytest.mark.parametrize(
    ("arch", "capability", "expected"),
    [
        ("sm_80", (8, 6), True),
        ("sm_86", (8, 0), False),
        ("sm_80", (9, 0), False),
        ("sm_90a", (9, 0), True),
        ("sm_90a", (10, 0), False),
        ("sm_100a", (10, 3), False),
        ("sm_100f", (10, 3), True),
        ("sm_103f", (10, 0), False),
        ("sm_100f", (12, 0), False),
        ("sm_120a", (12, 1), False),
        ("sm_120f", (12, 1), True),
        ("compute_80", (12, 1), True),
        ("compute_90a", (10, 0), False),
        ("compute_120", (9, 0), False),
        ("gfx942", (9, 0), False),
        ("", (9, 0), False),
    ],
)
def test_an_architecture_runs_where_the_cuda_guide_says(arch, capability, expected):
    assert runs(arch, capability) is expected


@given(st.sampled_from(CAPABILITIES), st.sampled_from(["", "a", "f"]), st.sampled_from(["sm", "compute"]))
def test_code_built_for_a_gpu_always_runs_on_that_gpu(capability, suffix, kind):
    assert runs(f"{kind}_{capability[0]}{capability[1]}{suffix}", capability)


@given(st.sampled_from(CAPABILITIES), st.sampled_from(CAPABILITIES))
def test_code_never_runs_on_an_older_gpu(built, gpu):
    if built > gpu:
        assert not any(
            runs(f"{kind}_{built[0]}{built[1]}{s}", gpu) for kind in ("sm", "compute") for s in ("", "a", "f")
        )


@given(st.text(max_size=20), st.tuples(st.integers(0, 99), st.integers(0, 9)))
def test_any_text_is_judged_without_raising(arch, capability):
    assert runs(arch, capability) in (True, False)
    architecture_order(arch)


def test_a_library_carries_a_gpu_when_one_of_its_architectures_runs_there():
    kernel = ("sm_80", "sm_89", "sm_90", "sm_90a", "sm_100f", "sm_120a")
    assert carry(kernel, (10, 3))
    assert not carry(kernel, (12, 1))
    assert not carry((), (9, 0))


def test_architectures_sort_by_number_then_name():
    assert sorted(["sm_120a", "sm_90a", "sm_100f", "sm_90"], key=architecture_order) == [
        "sm_90",
        "sm_90a",
        "sm_100f",
        "sm_120a",
    ]
