import pytest

from ddtree_doctor.contract.layout import TRAITS
from ddtree_doctor.engine.source.locate import locate
from ddtree_doctor.engine.source.sizing import find_runner, layout_of
from ddtree_doctor.engine.source.traits import read_traits
from ddtree_doctor.engine.source.tree import SourceTree
from tests.engine.source.trees import NEWEST, OLDEST

COMMON = "srt/utils/common.py"
MEMORY = """
def handle_gpu_memory_settings(server_args):
    if gpu_mem < 20 * 1024:
        config.max_bs = 8
    elif gpu_mem < 35 * 1024:
        if chunked is None:
            chunked = 1
        if config.max_bs is None:
            if cfg.tp_size < 4:
                config.max_bs = 48
            else:
                config.max_bs = 160
    if config.max_bs > cfg.max_running_requests:
        config.max_bs = cfg.max_running_requests
"""


@pytest.fixture
def traits(tree_of):
    def read(files):
        tree = tree_of(files)
        runner = find_runner(tree)
        return read_traits(tree, runner, layout_of(tree, runner))

    return read


def test_the_newest_runner_gates_by_width_and_names_no_algorithm(traits):
    found = traits(NEWEST)
    assert found["width_gate"] is True
    assert found["admission_by_name"] is False
    assert found["graph_runner"] == "srt/model_executor/runner/decode_cuda_graph_runner.py:DecodeCudaGraphRunner"
    assert found["draft_extend"] == "draft_tokens"


def test_the_oldest_runner_names_algorithms_and_has_no_gate(traits):
    found = traits(OLDEST)
    assert found["admission_by_name"] is True
    assert found["width_gate"] is False
    assert found["draft_extend"] == "steps+1"


def test_a_trait_whose_place_is_not_there_is_left_out(traits):
    assert set(traits({"srt/x.py": ""})) == set()
    assert "gather_a2a" not in traits({**NEWEST, COMMON: "def other(): ...\n"})


def test_all_to_all_backends_are_listed_in_order(traits):
    text = """
def require_mlp_tp_gather():
    if get_moe_a2a_backend().is_none():
        return True
    elif moe_a2a_backend.is_flashinfer() or moe_a2a_backend.is_mori_epv2():
        return True
def require_attn_tp_gather():
    if get_parallel().disable_attn_tp_gather:
        return False
"""
    found = traits({**NEWEST, COMMON: text})
    assert found["gather_a2a"] == ("none", "flashinfer", "mori_epv2")
    assert found["attn_tp_gather_opt_out"] is True


def test_capture_defaults_by_memory_are_read(traits):
    found = traits({**NEWEST, "srt/arg_groups/memory_hook.py": MEMORY})
    assert found["small_gpu_max_bs"] == (48, 160)
    assert found["max_bs_capped_by_running"] is True


def test_in_an_older_engine_they_stand_in_the_server_arguments(traits):
    method = (
        MEMORY.replace("def handle", "def _handle").replace("max_running_requests", "other").replace("\n", "\n    ")
    )
    found = traits({**NEWEST, "srt/server_args.py": f"class ServerArgs:{method}"})
    assert found["small_gpu_max_bs"] == (48, 160)
    assert found["max_bs_capped_by_running"] is False


def test_backends_that_may_verify_a_tree_over_pages_are_read_in_both_forms(traits):
    condition = "a.speculative_eagle_topk > 1 and a.page_size > 1 and a.attention_backend not in"
    constant = '    _PAGE_TREE_SPEC_BACKENDS = ("flashinfer", "fa3")\n'
    newer = f"def f(a):\n{constant}    if {condition} _PAGE_TREE_SPEC_BACKENDS: ...\n"
    found = traits({**NEWEST, "srt/arg_groups/speculative_hook.py": newer})
    assert found["paged_tree_backends"] == ("flashinfer", "fa3")
    older = f'class ServerArgs:\n    def f(a):\n        if {condition} ["flashinfer"]: ...\n'
    assert traits({**OLDEST, "srt/server_args.py": older})["paged_tree_backends"] == ("flashinfer",)


def test_limits_of_kernels_are_read(traits):
    kda = "def f():\n    if not 2 <= draft_token_num <= 8:\n        return False\n"
    dflash = '_DFLASH_VERIFY_SKIP_CUSTOM_MASK_BACKENDS = frozenset({"B", "A"})\n'
    found = traits(
        {
            **NEWEST,
            "srt/layers/attention/linear/kda_backend.py": kda,
            "srt/speculative/dflash_utils.py": dflash,
        }
    )
    assert found["kda_fused_verify"] == 8
    assert found["dflash_skips_mask"] == ("A", "B")


@pytest.mark.engine
def test_every_trait_of_the_contract_is_read_from_the_installed_release_with_a_known_value():
    tree = SourceTree(locate(None))
    runner = find_runner(tree)
    found = read_traits(tree, runner, layout_of(tree, runner))
    for trait in TRAITS:
        if trait.name != "fork_reasons":
            assert trait.name in found
            assert not trait.values or found[trait.name] in trait.values
    assert set(found) <= {trait.name for trait in TRAITS}
