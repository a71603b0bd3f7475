import base64
import hashlib
import json
import sys

import pytest

from ddtree_doctor.engine.source.locate import describe, fork_reasons, locate
from ddtree_doctor.engine.source.tree import SourceTree
from ddtree_doctor.errors import UsageError
from tests.engine.source.trees import NEWEST, plant

METADATA = "Name: sglang\nRequires-Dist: torch==2.14.1\n\nText\n"


def install(folder, version="0.5.23", direct_url=None):
    """The package with the metadata folder that pip leaves beside it."""
    package = plant(folder, NEWEST)
    lines = []
    for path in NEWEST:
        digest = base64.urlsafe_b64encode(hashlib.sha256((package / path).read_bytes()).digest()).rstrip(b"=").decode()
        lines.append(f"sglang/{path},sha256={digest},1")
    metadata = folder / f"sglang-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(METADATA)
    (metadata / "RECORD").write_text("\n".join(lines))
    if direct_url is not None:
        (metadata / "direct_url.json").write_text(direct_url)
    return package


def reasons(package, *paths):
    tree = SourceTree(package)
    for path in paths or NEWEST:
        tree.text(path)
    return fork_reasons(tree, describe(tree))


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


def test_a_release_has_version_pins_and_no_reason_to_be_a_fork(tmp_path):
    package = install(tmp_path)
    found = describe(SourceTree(package))
    assert (found.version, found.pins) == ("0.5.23", {"torch": "==2.14.1"})
    assert reasons(package) == ()


def test_a_file_changed_or_added_after_the_installation_makes_a_fork(tmp_path):
    package = install(tmp_path)
    (package / "srt/choices.py").write_text("CHANGED = 1\n")
    (package / "srt/ddtree.py").write_text("ADDED = 1\n")
    changed, added = reasons(package, "srt/choices.py", "srt/ddtree.py", "srt/server_args.py", "srt/absent.py")
    assert changed == "changed since it was installed: srt/choices.py"
    assert added == "added since it was installed: srt/ddtree.py"


@pytest.mark.parametrize("version", ["0.5.12+ddtree", "0.5.13.dev7"])
def test_a_local_or_development_version_is_no_release(tmp_path, version):
    assert reasons(install(tmp_path, version)) == (f"version {version} is no release",)


@pytest.mark.parametrize("origin", [{"dir_info": {"editable": True}}, {"vcs_info": {"vcs": "git"}}])
def test_an_installation_from_source_is_a_fork(tmp_path, origin):
    assert reasons(install(tmp_path, direct_url=json.dumps(origin))) == ("it was installed from a source tree",)


@pytest.mark.parametrize("origin", ['{"archive_info": {}}', "[]", "not json"])
def test_a_wheel_from_a_file_is_no_fork(tmp_path, origin):
    assert reasons(install(tmp_path, direct_url=origin)) == ()


def test_a_bare_checkout_has_the_version_of_its_file_or_that_of_an_unversioned_engine(tmp_path):
    (tmp_path / ".git").mkdir()
    package = plant(tmp_path / "python", NEWEST)
    assert describe(SourceTree(package)).version == "0.5.23"
    assert reasons(package) == ("it lies in a git repository", "it is no installed distribution")
    (package / "_version.py").unlink()
    assert describe(SourceTree(package)).version == "0.0.0.dev0"


@pytest.mark.engine
def test_the_installed_engine_is_a_release():
    tree = SourceTree(locate(None))
    tree.text("srt/server_args.py")
    found = describe(tree)
    assert found.version == "0.5.23"
    assert found.pins["torch"].startswith("==")
    assert fork_reasons(tree, found) == ()
