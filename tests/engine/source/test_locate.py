import sys

import pytest

from ddtree_doctor.engine.source.locate import UNVERSIONED, describe, locate
from ddtree_doctor.engine.source.tree import SourceTree
from ddtree_doctor.errors import UsageError
from tests.engine.source.trees import NEWEST, install, plant


@pytest.mark.parametrize("given", ["", "sglang", "repository"])
def test_a_package_its_parent_or_a_repository_is_accepted(tmp_path, given):
    where = tmp_path / "python" if given == "repository" else tmp_path
    package = plant(where, NEWEST)
    assert locate(tmp_path / "sglang" if given == "sglang" else tmp_path) == package


def test_a_folder_without_an_engine_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="no sglang package there"):
        locate(tmp_path)


def test_no_installed_engine_is_none(monkeypatch):
    monkeypatch.setitem(sys.modules, "sglang", None)
    assert locate(None) is None


def test_a_release_has_version_and_pins(tmp_path):
    found = describe(SourceTree(install(tmp_path)))
    assert (found.version, found.pins) == ("0.5.23", {"torch": "==2.14.1"})


def test_a_bare_checkout_has_the_version_of_its_file_or_is_unversioned(tmp_path):
    package = plant(tmp_path, NEWEST)
    assert describe(SourceTree(package)).version == "0.5.23"
    (package / "_version.py").unlink()
    (package / "version.py").write_text("try:\n    import x\nexcept ImportError:\n    __version__ = '0.0.0.dev0'\n")
    assert describe(SourceTree(package)).version == UNVERSIONED


def test_an_editable_install_has_its_metadata_elsewhere(tmp_path, monkeypatch):
    package = plant(tmp_path / "checkout", {**NEWEST, "__init__.py": ""})
    site = tmp_path / "site"
    (site / "sglang-0.5.20.dist-info").mkdir(parents=True)
    (site / "sglang-0.5.20.dist-info/METADATA").write_text("Requires-Dist: torch==1\n\n")
    monkeypatch.setattr(sys, "path", [str(site), str(tmp_path / "checkout"), *sys.path])
    monkeypatch.delitem(sys.modules, "sglang", raising=False)
    assert locate(None) == package
    assert describe(SourceTree(package)).version == "0.5.20"
    assert describe(SourceTree(package)).pins == {"torch": "==1"}


@pytest.mark.engine
def test_the_installed_engine_has_version_and_pins():
    found = describe(SourceTree(locate(None)))
    assert found.version == "0.5.23"
    assert found.pins["torch"].startswith("==")
