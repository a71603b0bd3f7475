import pytest

from ddtree_doctor.contract.layout import LAYOUTS, layout_named
from ddtree_doctor.engine.source.locate import locate
from ddtree_doctor.engine.source.sizing import (
    algorithms,
    draft_widths,
    find_runner,
    layout_of,
    verify_overrides,
    width_by_hook,
)
from ddtree_doctor.engine.source.tree import SourceTree
from tests.engine.source.trees import NEWEST, OLDEST, RUNNER

EXTEND = "srt/speculative/eagle_draft_extend_cuda_graph_runner.py"
MULTI = "srt/speculative/multi_layer_eagle_draft_extend_cuda_graph_runner.py"


def test_the_enums_members_are_the_algorithms(tree_of):
    assert algorithms(tree_of(NEWEST)) == ("DFLASH", "EAGLE", "NGRAM", "NONE")


def test_the_runner_that_is_there_tells_the_layout(tree_of):
    tree = tree_of(NEWEST)
    runner = find_runner(tree)
    assert runner.module.path == "srt/model_executor/runner/decode_cuda_graph_runner.py"
    assert layout_of(tree, runner).name == "captured-req-width"


def test_an_old_layout_has_no_hook(tree_of):
    tree = tree_of(OLDEST)
    runner = find_runner(tree)
    assert runner.definition.name == "CudaGraphRunner"
    assert layout_of(tree, runner).name == "num-tokens-per-bs"


def test_the_hook_between_them_is_a_layout_of_its_own(tree_of):
    spec = NEWEST["srt/speculative/spec_info.py"].replace("per_req", "per_bs")
    runner = RUNNER.replace("captured_req_width", "num_tokens_per_bs")
    files = {"srt/speculative/spec_info.py": spec, "srt/model_executor/runner/decode_cuda_graph_runner.py": runner}
    tree = tree_of(files)
    assert layout_of(tree, find_runner(tree)).name == "width-hook"


def test_a_runner_of_no_known_layout_is_not_guessed(tree_of):
    unknown = {
        **NEWEST,
        "srt/model_executor/runner/decode_cuda_graph_runner.py": RUNNER.replace("captured_req", "some"),
    }
    tree = tree_of(unknown)
    assert layout_of(tree, find_runner(tree)) is None


@pytest.mark.parametrize(
    ("layout", "value", "form"),
    [
        ("num-tokens-per-bs", "self.speculative_num_steps + 1", "steps+1"),
        ("width-hook", "model_runner.server_args.speculative_num_draft_tokens", "draft_tokens"),
        ("captured-req-width", 'resolve_num_tokens_per_req(phase="draft_extend")', "draft_tokens"),
        ("captured-req-width", "something_else(1)", None),
        ("captured-req-width", "self.speculative_num_steps * 2", None),
    ],
)
def test_the_width_of_draft_extend_is_read_from_its_runner(tree_of, layout, value, form):
    attribute = layout_named(layout).attribute
    text = f"class EAGLEDraftExtendCudaGraphRunner:\n    def __init__(self):\n        self.{attribute} = {value}\n"
    found = dict(draft_widths(tree_of({**NEWEST, EXTEND: text}), layout_named(layout)))
    assert found.get("draft_extend") == form


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("self.speculative_num_steps + 1 + step", "steps+1+step"),
        ("self.speculative_num_draft_tokens", "draft_tokens"),
        ('resolve_num_tokens_per_req(phase="draft_extend") + self.num_front_tokens', "draft_tokens+front_tokens"),
    ],
)
def test_the_three_forms_of_multi_layer_draft_extend_are_told_apart(tree_of, value, form):
    method = f"    def f(self, step):\n        self.captured_req_width = {value}\n"
    text = f"class MultiLayerEagleDraftExtendCudaGraphRunner:\n{method}"
    found = dict(draft_widths(tree_of({**NEWEST, MULTI: text}), layout_named("captured-req-width")))
    assert found["multi_layer_draft_extend"] == form


def test_a_changed_rule_for_widths_is_not_taken_for_the_known_one(tree_of):
    rule = NEWEST["srt/speculative/spec_utils.py"].replace("spec.speculative_num_draft_tokens", "spec.other + 1")
    tree = tree_of({**NEWEST, "srt/speculative/spec_utils.py": rule})
    assert dict(draft_widths(tree, layout_named("captured-req-width"))) == {}


def test_a_width_that_a_forks_runner_gives_one_algorithm_is_seen(tree_of):
    runner = """
class CudaGraphRunner:
    def __init__(self, model_runner):
        self.num_tokens_per_bs = 1
        if model_runner.spec_algorithm.is_ddtree() and not model_runner.is_draft_worker:
            self.num_tokens_per_bs = model_runner.server_args.speculative_ddtree_budget + 1
        elif model_runner.spec_algorithm.is_dflash():
            self.num_tokens_per_bs = model_runner.server_args.speculative_num_draft_tokens
"""
    tree = tree_of({**OLDEST, "srt/model_executor/cuda_graph_runner.py": runner})
    found = find_runner(tree)
    assert verify_overrides(found, layout_of(tree, found)) == {
        "DDTREE": "model_runner.server_args.speculative_ddtree_budget + 1"
    }


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ("return num_draft_tokens", ()),
        ("return self.budget + 1 if self.is_ddtree() and not is_draft_worker else num_draft_tokens", ("DDTREE",)),
        ("return 1 if self.is_speculative() or self.is_other() else num_draft_tokens", ()),
    ],
)
def test_the_algorithms_that_a_forks_hook_tells_apart_are_named(tree_of, answer, named):
    spec = f"""
class SpeculativeAlgorithm(Enum):
    DDTREE = auto()
    NONE = auto()
    def get_num_tokens_per_bs_for_target_verify(self, num_draft_tokens, is_draft_worker):
        {answer}
"""
    assert width_by_hook(tree_of({"srt/speculative/spec_info.py": spec})) == named


def test_what_the_model_runner_answers_counts_as_the_hook(tree_of):
    runner = """
class ModelRunner:
    def decode_num_tokens_per_req(self):
        if self.spec_algorithm.is_dflash() and self.is_draft_worker:
            return 1
"""
    assert width_by_hook(tree_of({**NEWEST, "srt/model_executor/model_runner.py": runner})) == ("DFLASH",)


def test_the_founding_fault_overrides_nothing(tree_of):
    tree = tree_of(OLDEST)
    assert "DDTREE" in algorithms(tree)
    assert verify_overrides(find_runner(tree), layout_of(tree, find_runner(tree))) == {}


@pytest.mark.engine
def test_the_installed_release_is_recognised():
    tree = SourceTree(locate(None))
    layout = layout_of(tree, find_runner(tree))
    assert layout in LAYOUTS
    assert {"NONE", "EAGLE", "DFLASH"} <= set(algorithms(tree))
    assert verify_overrides(find_runner(tree), layout) == {}
    assert "DDTREE" not in width_by_hook(tree)


def test_without_a_runner_there_is_no_layout(tree_of):
    tree = tree_of({"srt/speculative/spec_info.py": NEWEST["srt/speculative/spec_info.py"]})
    assert find_runner(tree) is None
    assert layout_of(tree, None) is None
