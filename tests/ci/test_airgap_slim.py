import zipfile

from tests.ci.wheels import make_wheel, script

slim = script("slim").slim
FILES = {
    "sgl_kernel/__init__.py": b"",
    "sgl_kernel/sm90/common_ops.abi3.so": b"x" * 10,
    "sgl_kernel/sm100/common_ops.abi3.so": b"x" * 20,
    "sgl_kernel/flash_ops.abi3.so": b"x" * 30,
}


def test_a_kernel_wheel_keeps_python_and_one_architecture(tmp_path):
    wheel = make_wheel(tmp_path, "sglang_kernel", FILES)
    (entry,) = slim(wheel, "sm90")
    names = zipfile.ZipFile(wheel).namelist()
    assert [name for name in names if name.endswith(".so")] == ["sgl_kernel/sm90/common_ops.abi3.so"]
    assert "sgl_kernel/__init__.py" in names
    assert (entry["dropped_files"], entry["dropped_bytes"]) == (2, 50)


def test_the_record_names_only_what_is_left(tmp_path):
    wheel = make_wheel(tmp_path, "sglang_kernel", FILES)
    slim(wheel, "sm90")
    record = zipfile.ZipFile(wheel).read("sglang_kernel-1.0.dist-info/RECORD").decode()
    assert "sm100" not in record
    assert "sm90" in record


def test_other_wheels_and_no_architecture_change_nothing(tmp_path):
    other = make_wheel(tmp_path, "torchao", FILES)
    kernel = make_wheel(tmp_path, "sgl_kernel", FILES)
    before = other.read_bytes(), kernel.read_bytes()
    assert slim(other, "sm90") == slim(kernel, None) == []
    assert (other.read_bytes(), kernel.read_bytes()) == before
