"""One start of the engine as plain data: what the doctor hands to the process that starts it. Imports no engine.

Only what the launch itself gives goes to SGLang; what it leaves out SGLang decides, so that the ledger shows the
engine's own defaults rather than the contract's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ddtree_doctor.contract.model import Settings
from ddtree_doctor.engine.plugins import PLUGINS
from ddtree_doctor.knowledge import Value
from ddtree_doctor.launch.model import Flag, Launch

__all__ = ["CONTEXT", "DEFAULT_GPU_MIB", "KEPT", "SWITCHES", "Job", "job"]

CONTEXT = 512
"""Tokens of a sequence in the probe, beside its tree: shapes are linear in it, so a short one will do."""

DEFAULT_GPU_MIB = 80 * 1024
"""GPU memory that the engine derives its defaults from where the launch's GPU is not known."""

KEPT = frozenset(
    """
    speculative_algorithm speculative_num_steps speculative_eagle_topk speculative_num_draft_tokens
    speculative_dflash_block_size speculative_dspark_block_size speculative_draft_window_size
    speculative_draft_sink_size speculative_adaptive speculative_use_rejection_sampling
    speculative_ngram_max_bfs_breadth speculative_ngram_min_bfs_breadth speculative_ngram_max_trie_depth
    enable_multi_layer_eagle
    page_size max_running_requests chunked_prefill_size disable_overlap_schedule
    cuda_graph_max_bs cuda_graph_max_bs_decode cuda_graph_bs cuda_graph_bs_decode cuda_graph_config
    cuda_graph_backend_decode disable_cuda_graph disable_decode_cuda_graph disable_cuda_graph_padding
    tp_size dp_size attn_dp_size enable_dp_attention enable_dp_lm_head attn_cp_size enable_prefill_cp cp_strategy
    disaggregation_mode ep_size moe_a2a_backend moe_dense_tp_size disable_attn_tp_gather enable_two_batch_overlap
    """.split()
)
"""The engine's fields that decide a shape; every other option of the launch is left out."""

SWITCHES = frozenset(
    """
    SGLANG_RAGGED_VERIFY_MODE SGLANG_ENABLE_SINGLE_CG_DRAFT SGLANG_DISABLE_DRAFT_EXTEND_CUDA_GRAPH
    SGLANG_ENABLE_MTP_BOUNDARY_KV_FIX SGLANG_MORI_RECV_BOUND SGLANG_ENABLE_DP_SPEC_PREFILL_COORDINATION
    """.split()
)
"""The engine's environment variables that decide a shape."""

_REPLACED = frozenset(
    """
    model_path tokenizer_path served_model_name speculative_draft_model_path device load_format dtype context_length
    attention_backend prefill_attention_backend decode_attention_backend speculative_draft_attention_backend
    max_total_tokens skip_tokenizer_init
    """.split()
)
"""The engine's fields that the probe sets itself and speaks of one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to start.

    `options` are the launch's own words that decide a shape; `values` what its plugin's options were given, `fixed`
    the engine's fields that the probe sets where the release has them. `budget` and `block` are the drafter's, in
    nodes without the root and in tokens; `context` and `tp` as in `models.Numbers`, `attn_tp` the ranks that share one
    request's attention. `mutant` is the path of a file
    whose `apply()` runs before the workers start. `forwards` is how many of each target runner's smallest graphs are
    really run, `draft_forwards` the same of the draft's. `expert_gather` says that the launch's experts exchange tokens
    all to all, `environment` holds its switches of SGLang. `lean` asks for the smallest models, `device` is
    `cpu`, where graphs are recorded, or `cuda`.
    """

    algorithm: str
    options: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    plugin: str = ""
    mutant: str = ""
    tp: int = 1
    attn_tp: int = 1
    context: int = CONTEXT
    page_size: int | None = None
    block: int | None = None
    budget: int | None = None
    steps: int | None = None
    multi_layer: bool = False
    expert_gather: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    gpu_mib: int = DEFAULT_GPU_MIB
    forwards: int = 2
    draft_forwards: int = 2
    lean: bool = False
    device: str = "cpu"
    substituted: tuple[str, ...] = ()

    @property
    def checkpoints(self) -> str:
        """The key of this job's tiny checkpoints."""
        return "MULTI_LAYER_EAGLE" if self.multi_layer else self.algorithm


def job(launch: Launch, settings: Settings, *, plugin: str = "", mutant: str = "", gpu_mib: int | None = None) -> Job:
    """The start that shows what `launch` would capture."""
    return Job(
        algorithm=_known(settings.algorithm) or "NONE",
        options=tuple(word for flag in launch.flags if _kept(flag) for word in (flag.option, *flag.values)),
        values={flag.name: _value(flag) for flag in launch.flags if flag.name and not flag.unknown},
        plugin=plugin,
        mutant=mutant,
        tp=_known(settings.tp) or 1,
        attn_tp=_known(settings.attn_tp) or _known(settings.tp) or 1,
        context=_context(settings),
        page_size=_known(settings.page_size) if settings.page_size.origin in ("forced", "derived") else None,
        block=_known(settings.block_size),
        budget=_known(settings.budget),
        steps=_known(settings.num_steps),
        multi_layer=bool(_known(settings.multi_layer)),
        expert_gather=_gathers(launch),
        environment={name: launch.environment[name] for name in SWITCHES if name in launch.environment},
        # Tiny drafts of dense architectures shard over the whole TP group, which attention-DP splits.
        draft_forwards=0 if _known(settings.dp_attention) else 2,
        gpu_mib=gpu_mib or DEFAULT_GPU_MIB,
        substituted=tuple(_substituted(launch, settings, gpu_mib)),
    )


def _known(value: Value[Any]) -> Any:
    return value.value if value.known else None


def _value(flag: Flag) -> Any:
    return flag.value if flag.values else True


def _kept(flag: Flag) -> bool:
    return flag.name in KEPT and not flag.unknown


def _gathers(launch: Launch) -> bool:
    flag = launch.flag("moe_a2a_backend")
    return flag is not None and flag.value not in (None, "none")


def _context(settings: Settings) -> int:
    """Room for the prompt and the widest tree, in whole pages."""
    widest = max(_known(settings.num_draft_tokens) or 1, (_known(settings.budget) or 0) + 1)
    page = _known(settings.page_size) or 1
    return -(-(CONTEXT + widest) // page) * page


def _substituted(launch: Launch, settings: Settings, gpu_mib: int | None) -> Iterator[str]:
    """What differs from the deployment, in words."""
    yield "device: CPU tensors in place of a GPU; SGLang's Triton kernels run in Triton's interpreter"
    backend = _known(settings.attention_backend)
    if backend != "triton":
        yield f"attention backend: triton in place of {backend or 'what the engine would choose'}"
    model = launch.flag("model_path")
    yield f"model: a tiny one with random weights in place of {(model and model.value) or 'the target'}, float32"
    if (draft := launch.flag("speculative_draft_model_path")) is not None:
        yield f"draft model: a tiny one with random weights in place of {draft.value}"
    if (tp := _known(settings.tp) or 1) > 1:
        yield f"ranks: rank 0 of {tp} runs; collectives return at once (torch's fake process group)"
    yield f"context length: {_context(settings)} tokens in place of {_known(settings.context_length) or 'the model’s'}"
    if gpu_mib is None:
        yield f"GPU memory, from which the engine derives defaults: {DEFAULT_GPU_MIB // 1024} GiB"
    plugins = {option.name for plugin in PLUGINS.values() for option in plugin.options}
    left_out = [flag.option for flag in launch.flags if flag.name not in KEPT | _REPLACED | plugins]
    if left_out:
        yield f"options that decide no shape were left out: {' '.join(dict.fromkeys(left_out))}"
    for flag in launch.flags:
        if flag.unknown and flag.name in KEPT:
            yield f"{flag.option}: not known before run time ({flag.unknown}); the engine's default was used"
