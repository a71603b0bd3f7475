import pytest

from ddtree_doctor.engine.seams import REACHES
from ddtree_doctor.engine.source.locate import locate
from ddtree_doctor.engine.source.seams import HOOKS, read_seams
from ddtree_doctor.engine.source.tree import SourceTree

REGISTRY = "class CustomSpecAlgo:\n    def get_num_tokens_per_req_for_target_verify(self, n, d): ...\n"


@pytest.fixture
def seams(tree_of):
    return lambda files: {seam.name: seam for seam in read_seams(tree_of(files))}


def test_a_seam_in_its_place_is_intact_with_file_and_line(seams):
    seam = seams({"srt/speculative/spec_registry.py": REGISTRY})["width hook"]
    assert (seam.state, seam.file, seam.line) == ("intact", "srt/speculative/spec_registry.py", 2)


def test_the_older_name_of_a_seam_is_intact_too(seams):
    older = REGISTRY.replace("per_req", "per_bs")
    assert seams({"srt/speculative/spec_registry.py": older})["width hook"].state == "intact"


def test_a_module_without_the_name_has_moved_and_no_module_is_absent(seams):
    found = seams({"srt/speculative/spec_registry.py": "class CustomSpecAlgo: ...\n"})
    assert found["width hook"].state == "moved"
    assert "get_num_tokens_per_req_for_target_verify" in found["width hook"].detail
    assert found["custom algorithm"].state == "intact"
    assert found["function hooks"].state == "absent"


def test_a_name_that_is_only_imported_counts(seams):
    files = {
        "srt/plugins/hook_registry.py": "from sglang.srt.other import HookRegistry\n",
        "srt/other.py": "\nclass HookRegistry: ...\n",
    }
    seam = seams(files)["function hooks"]
    assert (seam.state, seam.file, seam.line) == ("intact", "srt/other.py", 2)


def test_a_method_of_a_base_class_counts(seams):
    files = {
        "srt/platforms/interface.py": "from sglang.srt.platforms.mixin import Mixin\nclass SRTPlatform(Mixin): ...\n",
        "srt/platforms/mixin.py": "class Mixin:\n    def get_graph_runner_cls(self): ...\n",
    }
    assert seams(files)["platform's graph runner"].file == "srt/platforms/mixin.py"


def test_a_class_that_is_its_own_base_ends(seams):
    assert seams({"srt/platforms/interface.py": "class SRTPlatform(SRTPlatform): ...\n"})[
        "platform's graph runner"
    ].state == ("moved")


@pytest.mark.engine
def test_every_seam_is_intact_in_the_installed_release():
    seams = read_seams(SourceTree(locate(None)))
    assert {seam.name for seam in seams} == {*REACHES, *HOOKS}
    assert [seam for seam in seams if seam.state != "intact"] == []
