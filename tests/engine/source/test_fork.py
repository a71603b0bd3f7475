import json

import pytest

from ddtree_doctor.engine.source.fork import fork_reasons
from ddtree_doctor.engine.source.locate import describe, locate
from ddtree_doctor.engine.source.tree import SourceTree
from tests.engine.source.trees import NEWEST, install, plant

TAGGED, OTHER = "a" * 40, "b" * 40


def reasons(package, *paths):
    tree = SourceTree(package)
    for path in paths or NEWEST:
        tree.text(path)
    return fork_reasons(tree, describe(tree))


def repository(folder, head=TAGGED, url="https://github.com/sgl-project/sglang.git"):
    """The newest engine in a checkout whose tag v0.5.23 is annotated and points to TAGGED."""
    package = plant(folder / "python", NEWEST)
    git = folder / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text(f'[remote "origin"]\n\turl = {url}\n')
    (git / "packed-refs").write_text(f"# pack-refs\n{OTHER} refs/tags/v0.5.23\n^{TAGGED}\n{head} refs/heads/main\n")
    return package


def test_an_installed_release_is_none(tmp_path):
    assert reasons(install(tmp_path)) == ()


def test_files_changed_or_added_after_the_installation_are_named(tmp_path):
    package = install(tmp_path)
    (package / "srt/choices.py").write_text("CHANGED = 1\n")
    (package / "srt/ddtree.py").write_text("ADDED = 1\n")
    changed, added = reasons(package, "srt/choices.py", "srt/ddtree.py", "srt/server_args.py", "srt/absent.py")
    assert changed == "changed since it was installed: srt/choices.py"
    assert added == "added since it was installed: srt/ddtree.py"


@pytest.mark.parametrize("version", ["0.5.12+ddtree", "0.5.13.dev7"])
def test_a_local_or_development_version_is_no_release(tmp_path, version):
    assert reasons(install(tmp_path, version)) == (f"version {version} is no release",)


@pytest.mark.parametrize(
    "origin",
    [
        '{"archive_info": {}, "url": "file:///tmp/sglang.whl"}',
        '{"dir_info": {"editable": true}, "url": "file:///sgl-workspace/sglang/python"}',
        '{"vcs_info": {"vcs": "git"}, "url": "https://github.com/sgl-project/sglang"}',
        "[]",
        "not json",
        "[" * 100_000,
    ],
)
def test_how_it_was_installed_is_no_reason_by_itself(tmp_path, origin):
    assert reasons(install(tmp_path, direct_url=origin)) == ()


def test_another_repository_is_named_without_its_login(tmp_path):
    origin = {"vcs_info": {"vcs": "git"}, "url": "https://me:secret@github.com/me/sglang.git"}
    assert reasons(install(tmp_path, direct_url=json.dumps(origin))) == (
        "it was installed from github.com/me/sglang.git",
    )


def test_a_checkout_of_the_release_itself_lacks_only_the_installation(tmp_path):
    assert reasons(repository(tmp_path)) == ("it is no installed distribution",)


def test_a_checkout_of_another_commit_than_the_tag_says_so(tmp_path):
    assert f"it is commit {OTHER[:10]}, not that of the tag v0.5.23" in reasons(repository(tmp_path, head=OTHER))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://token@github.com/me/sglang", "github.com/me/sglang"),
        ("git@github.com:me/sglang.git", "github.com:me/sglang.git"),
    ],
)
def test_a_clone_of_another_repository_is_named_without_its_login(tmp_path, url, shown):
    assert f"its repository is a clone of {shown}" in reasons(repository(tmp_path, url=url))


@pytest.mark.parametrize("head", ["", "ref: ../../etc/passwd", "ref: refs/heads/none", "\x00"])
def test_a_repository_that_cannot_be_read_gives_no_reason(tmp_path, head):
    package = repository(tmp_path)
    (tmp_path / ".git/HEAD").write_text(head)
    (tmp_path / ".git/packed-refs").unlink()
    assert reasons(package) == ("it is no installed distribution",)


@pytest.mark.engine
def test_the_installed_engine_is_a_release():
    tree = SourceTree(locate(None))
    tree.text("srt/server_args.py")
    assert fork_reasons(tree, describe(tree)) == ()
