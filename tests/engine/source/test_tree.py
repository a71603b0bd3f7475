import os

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ddtree_doctor.engine.source.tree import SourceTree, Stamp
from tests.engine.source.trees import plant


def test_definitions_are_found_by_dotted_path_under_if_and_try(tree_of):
    module = tree_of(
        {
            "a.py": "class A:\n    if X:\n        def f(self): ...\n"
            "try:\n    def g(): ...\nexcept ImportError:\n    def h(): ...\n"
        }
    ).module("a.py")
    assert module.find("A.f").lineno == 3
    assert module.find("g").lineno == 5
    assert module.find("h").lineno == 7
    assert module.find("A.g") is None


def test_imports_are_followed_to_their_module(tree_of):
    module = tree_of(
        {"srt/a/b.py": "from sglang.srt.c import d as e\nfrom .x import y\nfrom ..z import w\nimport os\n"}
    ).module("srt/a/b.py")
    assert module.imported("e") == ("sglang.srt.c", "d")
    assert module.imported("y") == ("sglang.srt.a.x", "y")
    assert module.imported("w") == ("sglang.srt.z", "w")
    assert module.imported("os") is None


def test_the_last_assignment_counts(tree_of):
    module = tree_of({"a.py": "X = 1\nY: int = 2\nif True:\n    X = 3\n"}).module("a.py")
    assert module.assigned("X").value == 3
    assert module.assigned("Y").value == 2
    assert module.assigned("Z") is None


def test_only_names_inside_the_package_resolve(tree_of):
    tree = tree_of({"srt/a.py": "", "srt/p/__init__.py": ""})
    assert tree.resolve("sglang.srt.a").path == "srt/a.py"
    assert tree.resolve("sglang.srt.p").path == "srt/p/__init__.py"
    assert tree.resolve("torch.nn") is None
    assert tree.resolve("sglang") is None


def test_every_look_is_recorded_misses_and_listings_too(tree_of):
    tree = tree_of({"srt/a.py": "X = 1\n"})
    tree.text("srt/a.py"), tree.text("srt/missing.py"), tree.names("srt"), tree.names("none")
    assert set(tree.stamps) == {"srt/a.py", "srt/missing.py", "srt/", "none/"}
    assert tree.stamps["srt/missing.py"] == Stamp(0, 0, "")
    assert tree.stamps["srt/a.py"].size == 6


@pytest.mark.parametrize("text", ["def f(:\n", "x = \x00", "(" * 5000, "\ufeffx = 1\n  y", "match x:\n case\n"])
def test_a_file_that_cannot_be_parsed_is_named(tmp_path, text):
    tree = SourceTree(plant(tmp_path, {"a.py": text}))
    assert tree.module("a.py") is None
    assert tree.broken["a.py"].startswith("a.py")


def test_a_pipe_or_a_folder_in_place_of_a_file_is_no_file(tmp_path):
    package = plant(tmp_path, {"b.py": ""})
    (package / "a.py").mkdir()
    tree = SourceTree(package)
    assert tree.module("a.py") is None
    assert tree.broken == {}


@given(st.binary(max_size=200))
@example(b"\xff\xfe")
@example(b"-" * 200)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_make_reading_raise(tmp_path, data):
    package = tmp_path / "sglang"
    package.mkdir(exist_ok=True)
    (package / "a.py").write_bytes(data)
    tree = SourceTree(package)
    assert (tree.module("a.py") is None) == ("a.py" in tree.broken)
    assert os.path.basename(tree.root) == "sglang"
