"""Whether decode and verify run in CUDA graphs, for which batch sizes, and how many requests may run.

Read from SGLang's `handle_cuda_graph_config` and `generate_decode_cuda_graph_batch_sizes` (`cuda_graph_hook.py`),
`handle_gpu_memory_settings` (`memory_hook.py`) and `resolve_max_num_reqs` (`kv_cache_configurator.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ddtree_doctor.contract.capture import default_list
from ddtree_doctor.contract.given import Given
from ddtree_doctor.contract.values import derived, forced, settle, unset
from ddtree_doctor.knowledge import NotKnown, Value

__all__ = ["RUNNING_WHEN_SPECULATING", "Graphs", "graphs", "request_pool"]

RUNNING_WHEN_SPECULATING = 48
"""max_running_requests that SGLang sets with speculation where the launch gives none."""

LEAST_POOL = 2048
"""Least request pool without speculation and without a given limit, unless the KV cache holds fewer tokens."""

MAX_BS_BY_MEMORY = ((20, 8, 8), (35, 0, 0), (60, 32, 160), (160, 256, 512))
"""(below GiB of GPU memory, default max_bs at TP < 4, at TP ≥ 4). Between 20 and 35 GiB releases differ."""

MAX_BS_OF_LARGE_GPU = (512, 512)

LARGEST_BS = 1 << 16
EAGER_BACKENDS = ("torch_native", "flex_attention")


@dataclass(frozen=True, slots=True, kw_only=True)
class Graphs:
    """The graph part of Settings."""

    cuda_graph: Value[bool]
    max_running_requests: Value[int]
    cuda_graph_max_bs: Value[int]
    cuda_graph_bs: Value[tuple[int, ...]]


def graphs(given: Given, algorithm: Value[str], tp: Value[int], backend: Value[str]) -> Graphs:
    """Resolve the graph settings of a launch."""
    running = settle("max_running_requests", lambda: _running(given, algorithm))
    listed = settle("cuda_graph_bs", lambda: _listed(given))
    max_bs = settle("cuda_graph_max_bs", lambda: _max_bs(given, listed, tp))
    return Graphs(
        cuda_graph=settle("cuda_graph", lambda: _enabled(given, backend)),
        max_running_requests=running,
        cuda_graph_max_bs=max_bs,
        cuda_graph_bs=settle("cuda_graph_bs", lambda: _sizes(given, algorithm, listed, max_bs)),
    )


def request_pool(running: Value[int], attn_dp: Value[int]) -> Value[int]:
    """Requests that one data-parallel rank may run, as `req_to_token_pool.size`, where the KV cache is large enough."""

    def compute() -> Value[int]:
        if running.known and running.value is None:
            return derived("request pool", LEAST_POOL, "at least this where --max-running-requests is not given")
        each = max(1, running.need() // attn_dp.need())
        return derived("request pool", each, f"{running.value} running requests over {attn_dp.value} attention groups")

    return settle("request pool", compute)


def _running(given: Given, algorithm: Value[str]) -> Value[int]:
    told = given.integer("max_running_requests")
    if not told.known or told.value is not None:
        return told
    if algorithm.need() == "NONE":
        return unset("max_running_requests", "not given: the engine takes what its KV cache holds")
    why = "the engine's default with speculation"
    return Value(name="max_running_requests", value=RUNNING_WHEN_SPECULATING, origin="default", why=why)


def _enabled(given: Given, backend: Value[str]) -> Value[bool]:
    chosen = _decode_config(given).get("backend") or given.text("cuda_graph_backend_decode").value
    if chosen is not None:
        return Value(name="cuda_graph", value=chosen != "disabled", origin="given", why=f"decode graphs: {chosen}")
    for field in ("disable_cuda_graph", "disable_decode_cuda_graph"):
        switch = given.switch(field)
        if not switch.known or switch.value:
            return replace(switch, name="cuda_graph", value=False if switch.known else None)
    if given.text("disaggregation_mode", default="null").need() == "prefill":
        return forced("cuda_graph", False, "a prefill server does not decode")
    if backend.value in EAGER_BACKENDS:
        return forced("cuda_graph", False, f"the attention backend {backend.value} runs without graphs")
    return Value(name="cuda_graph", value=True, origin="default", why="the engine's default")


def _decode_config(given: Given) -> Mapping[str, Any]:
    """The decode part of `--cuda-graph-config`, which overrules every other flag."""
    config = given.mapping("cuda_graph_config")
    if not config.known:
        raise NotKnown("cuda_graph_config", config.why)
    decode = (config.value or {}).get("decode")
    return decode if isinstance(decode, Mapping) else {}


def _listed(given: Given) -> Value[tuple[int, ...]]:
    sizes = _decode_config(given).get("bs")
    if sizes is None:
        told = given.integers("cuda_graph_bs_decode", "cuda_graph_bs")
        return replace(told, name="cuda_graph_bs", value=_sane(told.value) if told.value is not None else None)
    if not isinstance(sizes, list) or not all(isinstance(size, int) for size in sizes):
        raise NotKnown("cuda_graph_bs", f"--cuda-graph-config: decode.bs is {sizes!r:.60}, not a list of whole numbers")
    return Value(name="cuda_graph_bs", value=_sane(tuple(sizes)), origin="given", why="--cuda-graph-config")


def _sane(sizes: tuple[int, ...]) -> tuple[int, ...]:
    if not sizes or max(sizes) > LARGEST_BS:
        raise NotKnown("cuda_graph_bs", f"the list is empty or goes beyond {LARGEST_BS} requests")
    return sizes


def _max_bs(given: Given, listed: Value[tuple[int, ...]], tp: Value[int]) -> Value[int]:
    if not listed.known or listed.value is not None:
        return derived("cuda_graph_max_bs", max(listed.need()), f"the largest of {listed.why}")
    config = _decode_config(given).get("max_bs")
    if config is not None:
        return _bounded(Value(name="cuda_graph_max_bs", value=config, origin="given", why="--cuda-graph-config"))
    told = given.integer("cuda_graph_max_bs_decode", "cuda_graph_max_bs")
    if not told.known or told.value is not None:
        return _bounded(replace(told, name="cuda_graph_max_bs"))
    return _cut_to_running(given, _by_memory(given, tp))


def _bounded(value: Value[int]) -> Value[int]:
    size = value.need()
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= LARGEST_BS:
        raise NotKnown("cuda_graph_max_bs", f"{size!r:.40} is no batch size between 1 and {LARGEST_BS}")
    return value


def _by_memory(given: Given, tp: Value[int]) -> Value[int]:
    known = [gpu.memory_mib for gpu in given.facts.host.gpus]
    if not known or None in known:
        raise NotKnown("cuda_graph_max_bs", "the default depends on the GPU's memory, which is not known")
    memory = min(mib for mib in known if mib is not None)
    sizes = ((few, many) for below, few, many in MAX_BS_BY_MEMORY if memory < below * 1024)
    few, many = next(sizes, MAX_BS_OF_LARGE_GPU)
    if not many:
        few, many = _small_gpu(given)
    value = few if tp.need() < 4 else many
    return Value(
        name="cuda_graph_max_bs", value=value, origin="default", why=f"the default at {memory} MiB and tp {tp.value}"
    )


def _small_gpu(given: Given) -> tuple[int, int]:
    found = given.facts.engine.traits.get("small_gpu_max_bs")
    if found is None:
        raise NotKnown("cuda_graph_max_bs", "releases differ between 20 and 35 GiB; give --cuda-graph-max-bs")
    few, many = found
    return int(few), int(many)


def _cut_to_running(given: Given, value: Value[int]) -> Value[int]:
    """Later releases do not capture beyond a given --max-running-requests."""
    running = given.integer("max_running_requests")
    if not running.known or running.value is None or running.value >= value.need():
        return value
    cut = given.facts.engine.traits.get("max_bs_capped_by_running")
    if cut is None:
        raise NotKnown(
            "cuda_graph_max_bs", "whether this engine cuts its default to --max-running-requests is not known"
        )
    return derived("cuda_graph_max_bs", running.value, f"cut down to {running.why}") if cut else value


def _sizes(
    given: Given, algorithm: Value[str], listed: Value[tuple[int, ...]], max_bs: Value[int]
) -> Value[tuple[int, ...]]:
    if not listed.known or listed.value is not None:
        return listed
    padding = not given.switch("disable_cuda_graph_padding").need()
    sizes = default_list(max_bs.need(), speculative=algorithm.need() != "NONE", padding=padding)
    return derived("cuda_graph_bs", sizes, f"the engine's list up to {max_bs.value}")
