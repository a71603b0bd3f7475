import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.facts.packages import archs_of, installed, normal
from tests.facts.test_fatbin import ELF, entry, fat_binary, shared_library


@pytest.fixture
def site(tmp_path):
    for folder in ("flashinfer_python-0.7.2.dist-info", "torch-2.11.0+cu130.dist-info", "Old_Thing-1.0-py3.8.egg-info"):
        (tmp_path / folder).mkdir()
    (tmp_path / "sgl_kernel").mkdir()
    return tmp_path


def library(path, *archs):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(shared_library(fat_binary(*(entry(ELF, number, suffix) for number, suffix in archs))))


def test_versions_come_from_the_names_of_metadata_folders(site):
    found = installed([str(site), str(site / "absent")])
    assert {name: version for name, (version, _) in found.items()} == {
        "flashinfer-python": "0.7.2",
        "torch": "2.11.0+cu130",
        "old-thing": "1.0",
    }
    assert found.package("sglang") is None


def test_the_first_folder_on_the_path_wins(site, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "torch-9.9.dist-info").mkdir()
    assert installed([str(other), str(site)])["torch"][0] == "9.9"


def test_each_folder_of_the_kernel_wheel_counts_only_for_the_gpus_it_is_loaded_on(site):
    for folder in ("sm90", "sm100"):
        library(site / "sgl_kernel" / folder / "common_ops.abi3.so", (80, ""), (90, "a"), (100, "f"))
    assert archs_of("sglang-kernel", site) == ("sm_80", "sm_90a", "sm_100f")
    (site / "sgl_kernel/sm100/common_ops.abi3.so").unlink()
    assert archs_of("sglang-kernel", site) == ("sm_90a",)


def test_an_older_kernel_wheel_has_one_library_for_all(site):
    library(site / "sgl_kernel/common_ops.abi3.so", (80, ""), (90, ""))
    assert archs_of("sgl-kernel", site) == ("sm_80", "sm_90")


def test_cubins_tell_their_architecture_by_name(site):
    folder = site / "flashinfer_cubin/cubins/abc/fmha"
    folder.mkdir(parents=True)
    for name in ("fmhaSm100fKernel_Qkv.cubin", "Gemm_schedS_sm103a.cubin", "kernel.fp8.0074.cubin", "sm90.txt"):
        (folder / name).touch()
    assert archs_of("flashinfer-cubin", site) == ("sm_100f", "sm_103a")


def test_nothing_readable_is_no_answer_rather_than_no_architecture(site):
    assert archs_of("torch", site) is None
    assert archs_of("sglang-kernel", site) is None
    assert archs_of("flashinfer-cubin", site) is None
    assert archs_of("transformers", site) is None


@given(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True))
def test_a_normal_name_is_its_own_normal_name(name):
    assert normal(normal(name)) == normal(name)
    assert normal(name) == normal(name.replace("-", "_").upper())
