import pytest

from ddtree_doctor.engine.source.locate import locate
from ddtree_doctor.engine.source.masks import read_masks
from ddtree_doctor.engine.source.tree import SourceTree

FOLDER = "srt/layers/attention"
READS = "def f(spec):\n    g(spec.custom_mask)\n    custom_mask = h(spec.custom_mask[0])\n    return custom_mask\n"
UNPACKS = "def f(spec):\n    a, custom_mask = spec.g()\n    if spec.custom_mask is not None: ...\n    # custom_mask\n"


@pytest.fixture
def masks(tree_of):
    return lambda files: read_masks(tree_of({f"{FOLDER}/{name}": text for name, text in files.items()}))


def test_only_reading_the_mask_for_its_value_counts(masks):
    files = {"triton_backend.py": READS, "flashinfer_mla_backend.py": UNPACKS, "trtllm_mha_backend.py": "x = 1\n"}
    assert masks(files) == {"triton": 3, "flashinfer_mla": 0, "trtllm_mha": 0}


def test_other_files_are_no_backends(masks):
    assert masks({"verify_mask.py": READS}) == {}


def test_a_backend_that_cannot_be_parsed_has_no_count(masks):
    assert masks({"triton_backend.py": "custom_mask(\n"}) == {}


def test_names_of_the_registry_stand_for_the_file_of_their_factory(masks):
    registry = """
@register_attention_backend("fa3")
def create_fa3(runner):
    if not _is_musa:
        from sglang.srt.layers.attention.flashattention_backend import F
    else:
        from sglang.srt.hardware_backend.musa.attention import M

@register_attention_backend("fa4")
def create_fa4(runner):
    if special:
        from sglang.srt.layers.attention.triton_backend import T
        return T()
    from sglang.srt.layers.attention.flashattention_backend import F

@register_attention_backend("nsa")
def _alias(runner):
    warnings.warn("old name")
    return create_dsa(runner)

@register_attention_backend("dsa")
def create_dsa(runner):
    from sglang.srt.layers.attention.dsa_backend import D

@register_attention_backend("itself")
def create_itself(runner):
    return create_itself(runner)
"""
    files = {
        "attention_registry.py": registry,
        "flashattention_backend.py": READS,
        "triton_backend.py": UNPACKS,
        "dsa_backend.py": "",
    }
    counts = masks(files)
    assert counts == {"flashattention": 3, "triton": 0, "dsa": 0, "fa3": 3, "fa4": 3, "nsa": 0}


@pytest.mark.engine
def test_the_installed_release_reads_the_mask_where_its_authors_say():
    counts = read_masks(SourceTree(locate(None)))
    assert all(counts[name] > 0 for name in ("triton", "flashinfer", "aiter", "fa3", "fa4"))
    silent = ("trtllm_mha", "trtllm_mla", "dsa", "nsa", "flashmla", "flashinfer_mla", "cutedsl_mla", "dsv4")
    assert {name: counts[name] for name in silent} == dict.fromkeys(silent, 0)
