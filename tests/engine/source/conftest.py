import pytest

from ddtree_doctor.engine.source.tree import SourceTree
from tests.engine.source.trees import plant


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def tree_of(tmp_path):
    """A source tree of the files given by path."""

    def build(files):
        return SourceTree(plant(tmp_path, files))

    return build
