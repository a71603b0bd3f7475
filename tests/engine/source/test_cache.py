import json
import os
from dataclasses import replace

import pytest

from ddtree_doctor.engine.source import cache as caching
from ddtree_doctor.engine.source.cache import Cache, cache_folder
from ddtree_doctor.engine.source.read import read_source
from ddtree_doctor.engine.source.tree import SourceTree
from tests.engine.source.trees import NEWEST, plant


@pytest.fixture
def package(tmp_path):
    return plant(tmp_path, NEWEST)


@pytest.fixture
def engine(package):
    tree = SourceTree(package)
    engine = read_source(tree)
    Cache(package).store(engine, tree.stamps)
    return engine


def test_what_was_kept_comes_back_equal(package, engine):
    assert Cache(package).load() == engine


def test_nothing_is_kept_of_an_engine_never_read(package):
    assert Cache(package).load() is None


def test_a_changed_file_is_read_anew(package, engine):
    (package / "srt/choices.py").write_text('LOAD_FORMATS = ["auto", "other"]\n')
    assert Cache(package).load() is None


def test_a_change_of_equal_size_and_older_time_is_still_seen(package, engine):
    file = package / "srt/choices.py"
    before = file.stat()
    file.write_text(file.read_text().replace("dummy", "DUMMY"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert Cache(package).load() is None


def test_a_file_that_was_missing_and_now_is_there_is_seen(package, engine):
    file = package / "srt/speculative/spec_registry.py"
    assert not file.exists()
    file.write_text("class CustomSpecAlgo: ...\n")
    assert Cache(package).load() is None


def test_a_new_attention_backend_is_seen_by_the_listing(tmp_path):
    package = plant(tmp_path, {**NEWEST, "srt/layers/attention/triton_backend.py": ""})
    tree = SourceTree(package)
    Cache(package).store(read_source(tree), tree.stamps)
    assert Cache(package).load() is not None
    (package / "srt/layers/attention/new_backend.py").write_text("")
    assert Cache(package).load() is None


def test_touched_files_of_the_same_content_keep_the_entry_and_refresh_it(package, engine):
    os.utime(package / "srt/choices.py", ns=(1, 1))
    assert Cache(package).load() == engine
    kept = json.loads(Cache(package).path.read_text())
    assert kept["stamps"]["srt/choices.py"][1] == 1


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"stamps": {}, "engine": {}}',
        b'{"stamps": 3, "engine": 4}',
        b"\xff",
        b"[" * 100_000,
    ],
)
def test_a_corrupt_entry_is_ignored_and_replaced(package, engine, content):
    Cache(package).path.write_bytes(content)
    assert Cache(package).load() is None
    tree = SourceTree(package)
    Cache(package).store(read_source(tree), tree.stamps)
    assert Cache(package).load() == engine


def test_an_entry_with_a_field_that_facts_do_not_have_is_ignored(package, engine):
    kept = json.loads(Cache(package).path.read_text())
    kept["engine"]["more"] = 1
    Cache(package).path.write_text(json.dumps(kept))
    assert Cache(package).load() is None


def test_another_reader_never_takes_the_entry(package, engine, monkeypatch):
    real = caching._size_and_time
    monkeypatch.setattr(caching, "_size_and_time", lambda path: (0, 0) if path.name == "traits.py" else real(path))
    assert Cache(package).load() is None


@pytest.mark.parametrize("obstacle", ["file", "unwritable"])
def test_a_cache_that_cannot_be_written_is_none(package, tmp_path, monkeypatch, obstacle):
    if obstacle == "file":
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "plain"))
        (tmp_path / "plain").write_text("")
    else:
        monkeypatch.setattr(caching.tempfile, "mkstemp", lambda **_: (_ for _ in ()).throw(PermissionError(13, "no")))
    tree = SourceTree(package)
    Cache(package).store(read_source(tree), tree.stamps)
    assert Cache(package).load() is None


def test_a_failed_write_leaves_the_old_entry_and_no_debris(package, engine, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caching.os, "replace", fail)
    Cache(package).store(replace(engine, version="9"), {})
    monkeypatch.undo()
    folder = Cache(package).path.parent
    assert not list(folder.glob(".engine-*"))


def test_only_the_newest_entries_stay(tmp_path):
    folder = cache_folder()
    folder.mkdir(parents=True)
    for index in range(40):
        (folder / f"engine-{index}.json").write_text("{}")
        os.utime(folder / f"engine-{index}.json", (index, index))
    package = plant(tmp_path, NEWEST)
    tree = SourceTree(package)
    Cache(package).store(read_source(tree), tree.stamps)
    left = {path.name for path in folder.glob("engine-*.json")}
    assert len(left) == 24
    assert {"engine-39.json", Cache(package).path.name} <= left


@pytest.mark.parametrize(("variable", "expected"), [("/x", "/x/ddtree-doctor"), ("", None), ("relative", None)])
def test_the_folder_follows_the_xdg_specification(monkeypatch, variable, expected):
    monkeypatch.setenv("XDG_CACHE_HOME", variable)
    assert str(cache_folder()) == (expected or os.path.expanduser("~/.cache/ddtree-doctor"))


def test_a_changed_table_of_seams_never_takes_the_entry(package, monkeypatch, tmp_path):
    before = Cache(package).path
    table = tmp_path / "reaches.py"
    table.write_text("REACHES = {}")
    monkeypatch.setattr(caching.reaches, "__file__", str(table))
    assert Cache(package).path != before
