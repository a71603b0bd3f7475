import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ddtree_doctor.facts.hub import cached_config, hub_cache, is_repository


@pytest.fixture
def cache(tmp_path):
    repository = tmp_path / "models--z-lab--Qwen3-8B-DFlash"
    for age, commit in enumerate(["aaa111", "bbb222"]):
        folder = repository / "snapshots" / commit
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
        os.utime(folder, (age, age))
    (repository / "refs").mkdir()
    (repository / "refs/main").write_text("aaa111\n")
    return tmp_path


def commit_of(path):
    return None if path is None else path.parent.name


def test_the_commit_that_main_names_is_read(cache):
    assert commit_of(cached_config("z-lab/Qwen3-8B-DFlash", cache)) == "aaa111"


def test_another_revision_is_read_by_ref_or_commit(cache):
    (cache / "models--z-lab--Qwen3-8B-DFlash/refs/v2").write_text("bbb222")
    assert commit_of(cached_config("z-lab/Qwen3-8B-DFlash", cache, "v2")) == "bbb222"
    assert commit_of(cached_config("z-lab/Qwen3-8B-DFlash", cache, "bbb222")) == "bbb222"


@pytest.mark.parametrize("ref", ["", "../../../etc", "zzz999", "\x00", "a" * 5000])
def test_a_broken_ref_falls_back_to_the_newest_snapshot(cache, ref):
    (cache / "models--z-lab--Qwen3-8B-DFlash/refs/main").write_text(ref)
    assert commit_of(cached_config("z-lab/Qwen3-8B-DFlash", cache)) == "bbb222"


def test_a_repository_that_was_not_downloaded_is_not_there(cache):
    assert cached_config("z-lab/other", cache) is None
    assert cached_config("z-lab/other", cache / "absent") is None


@pytest.mark.parametrize("name", ["../secret", "a/b/c", "/etc/passwd", "a/../b", "", "a b", "models\0x"])
def test_a_name_that_is_no_repository_never_leaves_the_cache(cache, name):
    assert not is_repository(name)
    assert cached_config(name, cache) is None


@given(st.text(max_size=40), st.text(max_size=40))
@example("a", "../x")
def test_any_name_and_revision_are_looked_up_without_raising(name, revision):
    assert cached_config(name, Path("/nonexistent"), revision) is None


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"HF_HUB_CACHE": "/a", "HF_HOME": "/b"}, "/a"),
        ({"HUGGINGFACE_HUB_CACHE": "/c"}, "/c"),
        ({"HF_HOME": "/b"}, "/b/hub"),
        ({"XDG_CACHE_HOME": "/x"}, "/x/huggingface/hub"),
        ({"HF_HOME": "~nobody-of-that-name"}, "~nobody-of-that-name/hub"),
    ],
)
def test_the_cache_lies_where_the_environment_says(environment, expected):
    assert hub_cache(environment) == Path(expected)
