"""Where SGLang has what the doctor reaches into: data for `engine.seams`.

A reach has one or more places, `module:attribute.path`, newest release first; so have the attributes of its objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["FIELDS", "OLDER", "REACHES", "SERVING", "WHOLE", "Reach"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Something of SGLang that the doctor calls, reads or replaces. `use` says what for."""

    name: str
    places: tuple[str, ...]
    use: str


_SRT = "sglang.srt."
_RUNNER = _SRT + "model_executor.runner."
_CONTEXT = _SRT + "runtime_context:"
_RESULTS = _SRT + "managers.scheduler_components.batch_result_processor:"
_TREE_KERNELS = "sglang.kernels.ops.speculative."
_SETUP = _SRT + "model_executor.model_runner_components.cuda_graph_setup:"


def _reach(name: str, use: str, *places: str) -> Reach:
    return Reach(name=name, places=places, use=use)


REACHES: Mapping[str, Reach] = {
    reach.name: reach
    for reach in (
        _reach("server arguments", "read the launch's options as SGLang does", _SRT + "server_args:ServerArgs"),
        _reach("plugin loader", "load algorithms as SGLang loads them", _SRT + "plugins:load_plugins"),
        _reach(
            "declared resolution",
            "say what differs on the CPU once the launch's options are resolved",
            _SRT + "arg_groups.overrides:declare_resolution",
        ),
        _reach("publish", "publish the resolved options in this process", _CONTEXT + "publish"),
        _reach("spawn ranks", "be rank 0 of the launch's ranks", _CONTEXT + "SpawnRanks"),
        _reach("context", "publish a draft worker's own options while it is built", _CONTEXT + "get_context"),
        _reach("parallel widths", "read the ranks that the capture rule counts", _CONTEXT + "get_parallel"),
        _reach("execution options", "read the configured capture list", _CONTEXT + "get_exec"),
        _reach("speculation options", "read the resolved tree", _CONTEXT + "get_spec"),
        _reach(
            "parallel runtime",
            "build the process groups as the scheduler does",
            _SRT + "distributed.bootstrap:init_parallel_runtime",
        ),
        _reach(
            "layer runtime",
            "set up attention and expert layers as the scheduler does",
            _SRT + "distributed.bootstrap:init_layer_runtime",
        ),
        _reach(
            "expert options",
            "let the capture rule know how experts exchange tokens",
            _SRT + "layers.moe.utils:initialize_moe_config",
        ),
        _reach("model config", "read the tiny model's config", _SRT + "configs.model_config:ModelConfig"),
        _reach(
            "DFLASH worker",
            "let a plugin's algorithm draft by it",
            _SRT + "speculative.dflash_worker_v2:DFlashWorkerV2",
        ),
        _reach(
            "hook registry", "let a plugin change what a function returns", _SRT + "plugins.hook_registry:HookRegistry"
        ),
        _reach("hook types", "let a plugin change what a function returns", _SRT + "plugins.hook_registry:HookType"),
        _reach("target worker", "start the target's worker", _SRT + "managers.tp_worker:TpModelWorker"),
        _reach("algorithms", "find the algorithm and its worker", _SRT + "speculative.spec_info:SpeculativeAlgorithm"),
        _reach(
            "custom algorithm", "base class of a plugin's algorithm", _SRT + "speculative.spec_registry:CustomSpecAlgo"
        ),
        _reach(
            "decode capture",
            "capture on a device that SGLang has no graphs for",
            _SETUP + "capture_decode_graph",
        ),
        _reach("graph switch", "know whether the launch has graphs off", _SETUP + "check_cuda_graph_backend"),
        _reach("graph phases", "know whether the launch has graphs off", _SETUP + "Phase"),
        _reach("graph backends", "know whether the launch has graphs off", _SETUP + "Backend"),
        _reach(
            "decode runner",
            "the runner of decode and verify",
            _RUNNER + "decode_cuda_graph_runner:DecodeCudaGraphRunner",
        ),
        _reach(
            "graph backend",
            "record in place of capturing",
            _SRT + "model_executor.runner_backend.utils:FullCudaGraphBackend",
        ),
        _reach(
            "capture context", "enter a capture without a stream", _RUNNER + "decode_cuda_graph_runner:graph_capture"
        ),
        _reach(
            "capture stream",
            "enter a capture without a stream",
            _RUNNER + "decode_cuda_graph_runner:get_or_create_global_graph_capture_stream",
        ),
        _reach(
            "capture flag",
            "capture a runner's graphs anew on a GPU",
            _SRT + "model_executor.runner_utils.capture_mode:model_capture_mode",
        ),
        _reach(
            "capture list rule",
            "record what each runner's list was computed from",
            _RUNNER + "base_cuda_graph_runner:get_batch_sizes_to_capture",
        ),
        _reach(
            "batch alignment",
            "record what batch size × width must be a multiple of",
            _SRT + "utils.common:get_cuda_graph_batch_size_alignment",
        ),
        _reach("gathered buffer", "record whether ranks gather", _SRT + "utils.common:require_gathered_buffer"),
        _reach(
            "dummy verify input",
            "read the width of the input that runners warm up with",
            _SRT + "speculative.spec_info:create_dummy_verify_input",
        ),
        _reach(
            "forward batch",
            "find the batch of a captured forward",
            _SRT + "model_executor.forward_batch_info:ForwardBatch",
        ),
        _reach(
            "forward modes", "say what a replayed forward is", _SRT + "model_executor.forward_batch_info:ForwardMode"
        ),
        _reach(
            "hidden modes",
            "say which hidden states a replayed forward hands on",
            _SRT + "model_executor.forward_batch_info:CaptureHiddenMode",
        ),
        _reach("n-gram verify input", "hand a tree to verify", _SRT + "speculative.ngram_info:NgramVerifyInput"),
        _reach("EAGLE verify input", "hand a tree to verify", _SRT + "speculative.eagle_info:EagleVerifyInput"),
        _reach(
            "DFLASH verify input", "hand a block or tree to verify", _SRT + "speculative.dflash_info:DFlashVerifyInput"
        ),
        _reach(
            "n-gram corpus",
            "leave the table of n-grams empty",
            _SRT + "speculative.cpp_ngram.ngram_corpus:get_ngram_corpus_cls",
        ),
    )
}

OLDER: Mapping[str, Reach] = {
    reach.name: reach
    for reach in (
        _reach(
            "parallel state",
            "tell a worker of 0.5.17 its ranks",
            _SRT + "distributed.parallel_state_wrapper:ParallelState",
        ),
        _reach(
            "attention ranks",
            "tell a worker of 0.5.17 its ranks",
            _SRT + "layers.dp_attention:compute_dp_attention_world_info",
        ),
        _reach(
            "draft arguments",
            "build a draft worker of 0.5.17",
            _SRT + "speculative.draft_worker_common:draft_server_args_copy",
        ),
        _reach(
            "draft extend graphs",
            "capture them off CUDA, as 0.5.17 does for XPUs",
            _SRT + "speculative.eagle_worker_v2:_is_xpu",
        ),
    )
}
"""What only releases before the newest have, where what REACHES has for it is not there."""

SERVING: Mapping[str, Reach] = {
    reach.name: reach
    for reach in (
        _reach("request", "serve requests without a scheduler", _SRT + "managers.schedule_batch:Req"),
        _reach("batch of requests", "serve requests on their own", _SRT + "managers.schedule_batch:ScheduleBatch"),
        _reach("end of a request", "end a request as its length does", _SRT + "managers.schedule_batch:FINISH_LENGTH"),
        _reach("sampling parameters", "sample greedily", _SRT + "sampling.sampling_params:SamplingParams"),
        _reach("scheduler's cache", "take and give back KV slots", _SRT + "mem_cache.kv_cache_builder:build_kv_cache"),
        _reach("inputs of a batch", "hand a prompt to prefill", _SRT + "managers.overlap_utils:resolve_forward_inputs"),
        _reach("release of a request", "give its KV slots back", _SRT + "mem_cache.common:release_kv_cache"),
        _reach(
            "commit of a round",
            "advance requests by what a round accepted",
            _RESULTS + "SchedulerBatchResultProcessor._resolve_spec_v2_tokens",
        ),
        _reach("tree kernels", "build and walk trees by Triton's kernels", _TREE_KERNELS + "spec_tree:_is_xpu"),
        _reach("mask kernels", "read trees off masks by Triton's kernels", _TREE_KERNELS + "reconstruct_tree:_is_xpu"),
        _reach("slot kernels", "assign KV slots by Triton's kernels", _TREE_KERNELS + "cache_locs:_is_xpu"),
    )
}
"""What serving requests on the workers takes beside what starting them takes."""

WHOLE: Mapping[str, Reach] = {
    reach.name: reach
    for reach in (
        _reach("engine", "start the whole engine", _SRT + "entrypoints.engine:Engine"),
        _reach("scheduler", "change what a mutant changes before workers start", _SRT + "managers.scheduler:Scheduler"),
        _reach(
            "scheduler process", "start the whole engine's scheduler", _SRT + "managers.scheduler:run_scheduler_process"
        ),
        _reach("made-up weights", "spread the weights of tiny models", _SRT + "model_loader.loader:DummyModelLoader"),
    )
}
"""What a whole engine takes beside the arguments that it is started with."""

FIELDS: Mapping[str, tuple[str, ...]] = {
    "captured width": ("captured_req_width", "num_tokens_per_bs"),
    "capture list": ("capture_bs",),
    "capture of one shape": ("capture_one_shape",),
    "capture mode": ("capture_forward_mode",),
    "runner's buffers": ("buffers",),
    "runner's attention backend": ("draft_attn_backend", "draft_extend_attn_backend", "attn_backend"),
    "decode runner's class": ("_decode_cuda_graph_runner_cls",),
    "model runner": ("model_runner",),
    "model's config": ("model_config",),
    "context length": ("context_len",),
    "vocabulary": ("vocab_size",),
    "hidden size": ("hidden_size",),
    "attention heads": ("num_attention_heads",),
    "page size": ("page_size",),
    "draft worker or not": ("is_draft_worker",),
    "worker's pools": ("alloc_memory_pool",),
    "worker's shared pools": ("get_memory_pool",),
    "sizes of the pools": ("memory_pool_config",),
    "worker's attention backends": ("init_attention_backends",),
    "worker's graphs": ("init_cuda_graphs",),
    "algorithm's worker": ("create_worker",),
    "target of a draft worker": ("target_worker",),
    "draft tokens of an attention backend": ("num_draft_tokens",),
    "width of target verify": ("decode_num_tokens_per_req", "decode_num_tokens_per_bs"),
    "attention backend": ("attn_backend",),
    "speculation input": ("spec_info",),
    "gather of a runner": ("require_gathered_buffer",),
    "request pool": ("req_to_token_pool",),
    "batch size of a forward": ("batch_size",),
    "tokens of a forward": ("input_ids", "positions"),
    "width that admission compares": ("num_tokens_per_req", "num_tokens_per_batch"),
    "width of a verify input": ("draft_token_num",),
    "attention metadata": ("forward_metadata",),
    "configured capture list": ("bs",),
    "free pages": ("get_all_free_pages",),
    "graph backend of a runner": ("backend",),
    "graph pool of a backend": ("_pool",),
    "start of the workers": ("init_model_worker",),
}
"""Attributes of SGLang's objects by what they hold, newest name first."""
