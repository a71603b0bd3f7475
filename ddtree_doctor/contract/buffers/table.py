"""Every static buffer of SGLang's graph runners and of its Triton attention backend, and the least it must hold.

The sizes follow from what a pass reads and writes, not from what the engine allocates: an engine that allocates more is
not wrong. Names are those of SGLang 0.5.14 and later (`sglang/srt`); `source` is relative to that folder. A buffer that
is not here is not judged.
"""

from __future__ import annotations

from ddtree_doctor.contract.buffers.model import Demand
from ddtree_doctor.contract.buffers.size import BATCH, CONTEXT, STEPS, TOKENS, TOPK, VOCAB, WIDTH, Size, constant

__all__ = ["DEMANDS", "demands"]

Dims = tuple[Size | None, ...]

_TOKEN, _REQUEST, _TOKEN_STATE, _REQUEST_STATE = (TOKENS,), (BATCH,), (TOKENS, None), (BATCH, None)
_BRANCHES, _MROPE = (BATCH, TOPK), (constant(3), TOKENS)


def _group(
    owner: str, source: str, kind: str, buffers: dict[str, tuple[Dims, str]], *, roles: tuple[str, ...] = ()
) -> tuple[Demand, ...]:
    return tuple(
        Demand(owner=owner, name=name, dims=dims, kind=kind, holds=holds, source=source, roles=roles)
        for name, (dims, holds) in buffers.items()
    )


_BATCHED: dict[str, tuple[Dims, str]] = {
    "req_pool_indices": (_REQUEST, "row of each request in req_to_token"),
    "seq_lens": (_REQUEST, "committed length of each request"),
    "seq_lens_cpu": (_REQUEST, "committed lengths, host copy"),
}
_TOKENED: dict[str, tuple[Dims, str]] = {
    "input_ids": (_TOKEN, "token ids"),
    "positions": (_TOKEN, "position of each token"),
    "mrope_positions": (_MROPE, "three rotary positions of each token"),
    "out_cache_loc": (_TOKEN, "KV slot that each token is written to"),
}

_CREATE = "model_executor/runner_utils/buffers.py:DecodeInputBuffers.create"
_DECODE = (
    *_group(
        "DecodeInputBuffers",
        _CREATE,
        "rows",
        {
            **_BATCHED,
            **_TOKENED,
            "input_embeds": (_TOKEN_STATE, "embedding of each token"),
            "aux_hidden_states": (_TOKEN_STATE, "hidden states handed to the drafter"),
            "mamba_track_indices": (_REQUEST, "recurrent state slot of each request"),
            "mamba_track_mask": (_REQUEST, "requests whose recurrent state is tracked"),
            "encoder_lens": (_REQUEST, "encoder length of each request"),
            "rids_int": (_REQUEST, "request id, for the KV canary"),
            "bootstrap_room_ids_int": (_REQUEST, "bootstrap room, for the KV canary"),
        },
    ),
    *_group(
        "DecodeInputBuffers",
        _CREATE,
        "mask",
        {"custom_mask": ((TOKENS * (WIDTH + 1),), "tree mask during capture: one cached token and the tree itself")},
        roles=("target_verify",),
    ),
    *_group(
        "DecodeInputBuffers",
        _CREATE,
        "logits",
        {"next_token_logits_buffer": ((TOKENS, VOCAB), "logits of every token of the pass")},
        roles=("decode", "target_verify"),
    ),
    *_group(
        "DecodeInputBuffers",
        _CREATE,
        "logits",
        {"next_token_logits_buffer": (_TOKEN_STATE, "logits of every token of the block")},
        roles=("draft",),
    ),
)

_EAGLE_DRAFT_SOURCE = "speculative/eagle_draft_cuda_graph_runner.py:EAGLEDraftCudaGraphRunner.__init__"
_EAGLE_DRAFT = (
    *_group(
        "EagleDraftInputBuffers",
        _EAGLE_DRAFT_SOURCE,
        "rows",
        {
            **_BATCHED,
            **{name: size for name, size in _TOKENED.items() if name != "out_cache_loc"},
            "extend_seq_lens": (_REQUEST, "extend length of each request"),
            "topk_p": (_BRANCHES, "probability of each branch"),
            "topk_index": (_BRANCHES, "token of each branch"),
            "draft_probs": (_REQUEST_STATE, "draft distribution of each request"),
            "sampling_seed": (_REQUEST, "seed of each request"),
            "hidden_states": (_REQUEST_STATE, "hidden state of each request"),
        },
    ),
    *_group(
        "EagleDraftInputBuffers",
        _EAGLE_DRAFT_SOURCE,
        "steps",
        {"out_cache_loc": ((TOKENS * STEPS,), "KV slots of every branch at every draft step")},
    ),
    *_group(
        "EAGLEDraftCudaGraphRunner",
        _EAGLE_DRAFT_SOURCE,
        "rows",
        {
            "temperatures": (_REQUEST_STATE, "temperature of each request"),
            "top_ks": (_REQUEST, "top-k of each request"),
        },
    ),
)

_EXTENDED: dict[str, tuple[Dims, str]] = {
    **_BATCHED,
    **_TOKENED,
    "hidden_states": (_TOKEN_STATE, "hidden states that the target handed over"),
    "mamba_track_indices": (_REQUEST, "recurrent state slot of each request"),
    "extend_seq_lens": (_REQUEST, "extend length of each request"),
    "num_correct_drafts": (_REQUEST, "accepted drafts of each request"),
    "num_accept_tokens": (_REQUEST, "accepted tokens of each request"),
    "select_index": (_REQUEST, "row of each request's last accepted token"),
}
_LAST_ROW_LOGITS: dict[str, tuple[Dims, str]] = {
    "next_token_logits_buffer": (_REQUEST_STATE, "logits of each request's last accepted token")
}
_EXTEND_SOURCE = "speculative/eagle_draft_extend_cuda_graph_runner.py:EAGLEDraftExtendCudaGraphRunner.__init__"
_LAYERS_SOURCE = (
    "speculative/multi_layer_eagle_draft_extend_cuda_graph_runner.py:"
    "MultiLayerEagleMultiStepDraftExtendCudaGraphRunner._allocate_buffers"
)
_EXTEND = (
    *_group("EagleDraftExtendInputBuffers", _EXTEND_SOURCE, "rows", _EXTENDED),
    *_group("EagleDraftExtendInputBuffers", _EXTEND_SOURCE, "logits", _LAST_ROW_LOGITS),
    *_group(
        "MultiLayerEagleDraftExtendInputBuffers",
        _LAYERS_SOURCE,
        "rows",
        {**_EXTENDED, "extend_start_loc": (_REQUEST, "first row of each request")},
    ),
    *_group("MultiLayerEagleDraftExtendInputBuffers", _LAYERS_SOURCE, "logits", _LAST_ROW_LOGITS),
)

_FROZEN = _group(
    "FrozenKVMTPInputBuffers",
    "speculative/frozen_kv_mtp_cuda_graph_runner.py:FrozenKVMTPCudaGraphRunner.__init__",
    "rows",
    {
        # The draft batch is expanded by topk: one row a branch, not one a request.
        "req_pool_indices": (_TOKEN, "row of each branch's request in req_to_token"),
        "positions": (_TOKEN, "position of each branch"),
        "mrope_positions": (_MROPE, "three rotary positions of each branch"),
        "seq_lens": (_TOKEN, "committed length of each branch's request"),
        "seq_lens_cpu": (_TOKEN, "committed lengths, host copy"),
        "topk_p": (_BRANCHES, "probability of each branch"),
        "topk_index": (_BRANCHES, "token of each branch"),
        "hidden_states": (_REQUEST_STATE, "hidden state of each request"),
        "bonus_tokens": (_REQUEST, "bonus token of each request"),
    },
)

_TRITON_INIT = "layers/attention/triton_backend.py:TritonAttnBackend.__init__"
_TRITON_GRAPH = "layers/attention/triton_backend.py:TritonAttnBackend.init_cuda_graph_state"
_TRITON = (
    *_group(
        "TritonAttnBackend",
        _TRITON_INIT,
        "metadata",
        {
            "kv_indptr": ((BATCH + 1,), "where each request's KV indices begin"),
            "qo_indptr": ((BATCH + 1,), "where each request's query rows begin"),
            "mask_indptr": ((BATCH + 1,), "where each request's mask begins"),
            "window_kv_indptr": ((BATCH + 1,), "where each request's window begins"),
        },
    ),
    *_group(
        "TritonAttnBackend",
        _TRITON_GRAPH,
        "metadata",
        {
            "cuda_graph_kv_indices": ((BATCH * CONTEXT,), "KV slot of every cached token"),
            "cuda_graph_window_kv_offsets": (_REQUEST, "first cached token inside each request's window"),
        },
    ),
    *_group(
        "TritonAttnBackend",
        _TRITON_GRAPH,
        "rows",
        {
            "cuda_graph_attn_logits": ((TOKENS, None, None, None), "partial attention outputs of each token"),
            "cuda_graph_attn_lse": ((TOKENS, None, None), "log-sum-exp of each partial output"),
            "cuda_graph_num_kv_splits": (_TOKEN, "KV splits of each token"),
            "cuda_graph_swa_out_cache_loc": (_TOKEN, "sliding-window slot that each token is written to"),
        },
    ),
    *_group(
        "VerifyMask",
        "layers/attention/verify_mask.py:maybe_create_verify_mask",
        "mask",
        {"buffer": ((TOKENS * (CONTEXT + WIDTH),), "tree mask over the cached tokens and the tree")},
        roles=("target_verify",),
    ),
)

_STEPS_SOURCE = "layers/attention/triton_backend.py:TritonMultiStepDraftBackend"
_TRITON_STEPS = (
    *_group(
        "TritonMultiStepDraftBackend",
        f"{_STEPS_SOURCE}.init_cuda_graph_state",
        "steps",
        {"cuda_graph_kv_indices": ((STEPS, TOKENS * CONTEXT), "KV slots of every branch, one row a draft step")},
        roles=("draft",),
    ),
    *_group(
        "TritonMultiStepDraftBackend",
        f"{_STEPS_SOURCE}.__init__",
        "steps",
        {"kv_indptr": ((STEPS, TOKENS + 1), "where each branch's KV indices begin, one row a draft step")},
        roles=("draft",),
    ),
    *_group(
        "TritonMultiStepDraftBackend",
        f"{_STEPS_SOURCE}.init_cuda_graph_state",
        "rows",
        {"cuda_graph_num_kv_splits": (_TOKEN, "KV splits of each branch")},
        roles=("draft",),
    ),
)

_POOL = _group(
    "ReqToTokenPool",
    "mem_cache/kv_cache_configurator.py, mem_cache/allocation_sizing.py:get_req_to_token_extra_context_len",
    "headroom",
    {"req_to_token": ((BATCH, CONTEXT + WIDTH), "KV slots of a full context and of the pass that follows it")},
    roles=("decode", "target_verify"),
)

DEMANDS = (*_DECODE, *_EAGLE_DRAFT, *_EXTEND, *_FROZEN, *_TRITON, *_TRITON_STEPS, *_POOL)
"""All demands; at most one for an owner, a name and a role."""


def demands(role: str) -> dict[tuple[str, str], Demand]:
    """What `role` demands of each buffer, by owner and name."""
    return {(d.owner, d.name): d for d in DEMANDS if not d.roles or role in d.roles}
