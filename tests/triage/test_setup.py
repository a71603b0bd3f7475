"""What a log tells of its deployment is remembered under the engine's names, with its place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.triage.model import Line, Place
from ddtree_doctor.triage.setup import VALUES_MAX, Setup, learn


def told(*lines):
    setup = Setup()
    for number, text in enumerate(lines, start=1):
        learn(setup, Line(place=Place(file="f", line=number, text=text)))
    return setup


@pytest.mark.parametrize(
    ("line", "values"),
    [
        (
            "server_args=ServerArgs(tp_size=8, speculative_algorithm='DDTREE', x=None)",
            {"tp_size": 8, "engine": "sglang"},
        ),
        (
            "server_args={'tp_size': 8, 'cuda_graph_config': {'decode': {'max_bs': 16, 'bs': [1, 16]}}}",
            {"tp_size": 8, "cuda_graph_max_bs": 16, "cuda_graph_bs": [1, 16]},
        ),
        (
            "non-default args: {'model': 'x', 'speculative_config': {'method': 'mtp', 'num_speculative_tokens': 3}}",
            {"engine": "vllm", "speculative_algorithm": "mtp", "num_speculative_tokens": 3},
        ),
        (
            "Initializing a V1 LLM engine (v0.21.0) with config: model='x', tensor_parallel_size=2, "
            "compilation_config={'cudagraph_capture_sizes': [1, 2, 4]}",
            {"version.vllm": "0.21.0", "tp_size": 2, "cudagraph_capture_sizes": [1, 2, 4]},
        ),
        (
            "+ SGLANG_ENABLE_SPEC_V2=1 python -m sglang.launch_server --model-path x --tp 8 --cuda-graph-bs 1 2 4 --on",
            {"tp_size": 8, "cuda_graph_bs": [1, 2, 4], "on": True, "env.SGLANG_ENABLE_SPEC_V2": "1"},
        ),
        (
            "Capture target verify CUDA graph begin. backend=full, num_tokens_per_req=33, bs=[1, 2, 4]",
            {"captured_width": 33, "capture_bs": [1, 2, 4]},
        ),
        (
            "Capture draft decode CUDA graph begin. num_tokens_per_req=4, bs=[1, 2]",
            {"draft_captured_width": 4, "draft_capture_bs": [1, 2]},
        ),
        ("Capture cuda graph bs [1, 2, 8]", {"capture_bs": [1, 2, 8]}),
        (
            "max_total_num_tokens=2048, max_running_requests=4, context_len=512",
            {"context_len": 512, "max_running_requests": 4},
        ),
        (
            "Load weight end. elapsed=1.00 s, type=Qwen3ForCausalLM, avail mem=1.25 GB",
            {"architecture": "Qwen3ForCausalLM", "memory_gb.load_weight_end": 1.25},
        ),
        ("sglang version: 0.5.23", {"version.sglang": "0.5.23", "engine": "sglang"}),
        ("vLLM API server version 0.21.0", {"version.vllm": "0.21.0"}),
        ("flashinfer_python==0.6.15", {"version.flashinfer": "0.6.15"}),
        ("Using max model len 40960", {"context_len": 40960}),
        ("using speculative_num_draft_tokens=8 but draft config block_size=16.", {"draft_config_block_size": 16}),
    ],
)
def test_a_line_teaches(line, values):
    setup = told(line)

    assert {name: setup.values.get(name) for name in values} == values
    assert all(setup.places[name].line == 1 for name in values)


def test_a_draft_or_prefill_capture_is_not_the_targets():
    setup = told(
        "Capture target prefill CUDA graph begin. num_tokens=[4, 8]",
        "Capture draft verify CUDA graph begin. num_tokens_per_req=8",
    )

    assert setup.number("captured_width") is None
    assert setup.number("draft_captured_width") == 8


def test_the_first_telling_stands():
    assert told("context_len=512", "context_len=1024").number("context_len") == 512


def test_the_start_up_has_phases():
    setup = Setup()
    seen = []
    for text in (
        "server_args=ServerArgs(tp_size=1)",
        "Capture target decode CUDA graph begin. num_tokens_per_req=1",
        "Capture target decode CUDA graph end. bs=[1]",
        "The server is fired up and ready to roll!",
    ):
        learn(setup, Line(place=Place(file="f", line=1, text=text)))
        seen.append(setup.phase)

    assert seen == ["startup", "capture", "startup", "runtime"]


def test_advice_about_an_environment_variable_does_not_set_it():
    assert "env.CUDA_LAUNCH_BLOCKING" not in told("For debugging consider passing CUDA_LAUNCH_BLOCKING=1").values


def test_numbers_are_whole_or_none():
    setup = told("server_args=ServerArgs(a=True, b='12', c=1.5, d=[1, 2], e=[1, 'x'])")

    assert (setup.number("a"), setup.number("b"), setup.number("c")) == (None, 12, None)
    assert (setup.numbers("d"), setup.numbers("e"), setup.numbers("nope")) == ((1, 2), (), ())


def test_it_holds_no_more_than_its_cap():
    many = ", ".join(f"k{number}={number}" for number in range(2 * VALUES_MAX))

    assert len(told(f"server_args=ServerArgs({many})").values) <= VALUES_MAX


@given(st.text())
def test_never_raises(text):
    told(text, f"server_args={text}", f"non-default args: {text}", f"Capture {text}")


@pytest.mark.parametrize(
    ("line", "name", "gigabytes"),
    [
        ("Load weight begin. avail mem=131.52 GB", "load_weight_begin", 131.52),
        ("Memory pool end. avail mem=18.39 GB", "memory_pool_end", 18.39),
        (
            "Capture target verify CUDA graph end. elapsed=9.0 s, mem usage=1.00 GB, avail mem=19.00 GB.",
            "graph_end",
            19.0,
        ),
        ("Available KV cache memory: 12.34 GiB", "kv_cache_memory", 12.34),
        ("Model loading took 14.99 GiB and 3.1 seconds", "model_loading_took", 14.99),
    ],
)
def test_memory_is_remembered(line, name, gigabytes):
    assert told(line).values[f"memory_gb.{name}"] == gigabytes


def test_a_fields_name_is_no_milestone():
    assert told("server_args=ServerArgs(update_weights_x=1, note='Shutting down')").milestones == {}
