from __future__ import annotations

import json
from typing import Any

import pytest

from ddtree_doctor.contract.capture import default_list
from ddtree_doctor.contract.given import Given
from ddtree_doctor.contract.graphs import Graphs, graphs, request_pool
from ddtree_doctor.facts.model import Engine, Gpu
from ddtree_doctor.knowledge import Value
from tests.strategies import facts

NEWEST = Engine(traits={"small_gpu_max_bs": (48, 160), "max_bs_capped_by_running": True})


def value(name: str, content: Any) -> Value[Any]:
    return Value(name=name, value=content, origin="given")


def resolved(
    *words: str, name: str = "EAGLE", tp: int = 8, memory: int | None = 97887, engine: Engine = NEWEST
) -> Graphs:
    gpu = Gpu(name="x", capability=(12, 0), memory_mib=memory)
    case = Given(facts(*words, gpu=gpu, engine=engine))
    return graphs(case, value("algorithm", name), value("tp", tp), value("attention_backend", "triton"))


@pytest.mark.parametrize(
    ("memory", "tp", "expected"),
    [
        (16_000, 1, 8),
        (24_000, 1, 48),
        (32_607, 8, 160),
        (46_068, 2, 32),
        (81_559, 1, 256),
        (97_887, 8, 512),
        (143_771, 2, 256),
        (183_359, 1, 512),
    ],
)
def test_the_largest_batch_follows_from_memory_and_tp(memory: int, tp: int, expected: int) -> None:
    found = resolved(memory=memory, tp=tp)
    assert (found.cuda_graph_max_bs.value, max(found.cuda_graph_bs.need())) == (expected, expected)


def test_releases_differ_for_small_gpus() -> None:
    older = Engine(traits={"small_gpu_max_bs": (24, 80)})
    assert resolved(memory=24_000, tp=1, engine=older).cuda_graph_max_bs.value == 24
    assert "releases differ" in resolved(memory=24_000, tp=1, engine=Engine()).cuda_graph_max_bs.why


def test_without_memory_the_default_is_unknown_but_a_given_list_is_not() -> None:
    assert not resolved(memory=None).cuda_graph_bs.known
    assert resolved("--cuda-graph-bs", "1", "2", "4", memory=None).cuda_graph_bs.value == (1, 2, 4)
    assert resolved("--cuda-graph-max-bs", "4", memory=None).cuda_graph_bs.value == (1, 2, 3, 4)


def test_a_list_sets_the_largest_batch() -> None:
    found = resolved("--cuda-graph-bs", "1", "16", "--cuda-graph-max-bs", "64")
    assert found.cuda_graph_max_bs.value == 16


def test_later_releases_cut_the_default_to_the_running_requests() -> None:
    words = ("--max-running-requests", "20")
    assert resolved(*words).cuda_graph_max_bs.value == 20
    uncut = Engine(traits={"max_bs_capped_by_running": False})
    assert resolved(*words, engine=uncut).cuda_graph_max_bs.value == 512
    assert not resolved(*words, engine=Engine()).cuda_graph_max_bs.known
    assert resolved(*words, "--cuda-graph-max-bs", "64").cuda_graph_max_bs.value == 64


def test_the_json_config_overrules_the_flags() -> None:
    config = json.dumps({"decode": {"bs": [2, 4], "backend": "full"}})
    found = resolved("--cuda-graph-config", config, "--cuda-graph-bs", "1", "--disable-cuda-graph")
    assert (found.cuda_graph_bs.value, found.cuda_graph.value) == ((2, 4), True)
    found = resolved("--cuda-graph-config", json.dumps({"decode": {"max_bs": 3}}))
    assert found.cuda_graph_bs.value == (1, 2, 3)


@pytest.mark.parametrize("decode", [{"bs": "1"}, {"bs": []}, {"bs": [1 << 40]}, {"max_bs": "x"}, {"max_bs": 1 << 40}])
def test_a_json_config_that_makes_no_sense_leaves_the_list_unknown(decode: dict[str, Any]) -> None:
    found = resolved("--cuda-graph-config", json.dumps({"decode": decode}))
    assert not found.cuda_graph_bs.known
    assert found.cuda_graph_bs.why


@pytest.mark.parametrize(
    "words",
    [
        ("--disable-cuda-graph",),
        ("--disable-decode-cuda-graph",),
        ("--cuda-graph-backend-decode", "disabled"),
        ("--disaggregation-mode", "prefill"),
    ],
)
def test_graphs_can_be_switched_off(words: tuple[str, ...]) -> None:
    assert resolved(*words).cuda_graph.value is False
    assert resolved().cuda_graph.value is True


def test_an_eager_backend_runs_without_graphs() -> None:
    case = Given(facts())
    found = graphs(case, value("algorithm", "NONE"), value("tp", 1), value("attention_backend", "torch_native"))
    assert found.cuda_graph.value is False


def test_without_padding_every_size_is_listed() -> None:
    found = resolved("--disable-cuda-graph-padding", "--cuda-graph-max-bs", "20")
    assert found.cuda_graph_bs.value == tuple(range(1, 21))


def test_plain_decode_lists_fewer_sizes() -> None:
    words = ("--cuda-graph-max-bs", "64")
    assert resolved(*words, name="NONE").cuda_graph_bs.value == default_list(64, speculative=False)
    assert resolved(*words).cuda_graph_bs.value == default_list(64, speculative=True)


def test_speculation_runs_48_requests_unless_told() -> None:
    assert resolved().max_running_requests.value == 48
    assert resolved("--max-running-requests", "96").max_running_requests.value == 96
    none = resolved(name="NONE").max_running_requests
    assert (none.known, none.value) == (True, None)


@pytest.mark.parametrize(("running", "groups", "pool"), [(48, 1, 48), (48, 8, 6), (4, 8, 1), (None, 8, 2048)])
def test_the_request_pool_is_shared_out_over_attention_groups(running: int | None, groups: int, pool: int) -> None:
    running_requests = Value(name="max_running_requests", value=running, origin="default")
    assert request_pool(running_requests, value("attn_dp", groups)).value == pool
