"""The formulas against the installed engine's own allocators: never more than it allocates, and as much where exact."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ddtree_doctor.contract.buffers import Extents
from ddtree_doctor.contract.buffers.table import demands

pytestmark = [pytest.mark.engine, pytest.mark.slow]

SIZES = st.builds(
    Extents,
    batch=st.integers(1, 64),
    width=st.integers(1, 65),
    steps=st.integers(1, 8),
    topk=st.integers(1, 8),
    context=st.integers(1, 4096),
    vocab=st.integers(1, 512),
)


@given(SIZES)
@settings(max_examples=50, deadline=None)
def test_the_decode_runner_allocates_exactly_what_a_verify_pass_demands(at: Extents) -> None:
    torch = pytest.importorskip("torch")
    from sglang.srt.model_executor.runner_utils.buffers import DecodeInputBuffers
    from sglang.srt.runtime_context import get_parallel

    tokens = at.batch * at.width
    with get_parallel().override(moe_ep_size=1):
        buffers = DecodeInputBuffers.create(
            device="cpu",
            max_bs=at.batch,
            max_num_token=tokens,
            hidden_size=16,
            next_token_logits_buffer=torch.zeros(tokens, at.vocab),
            dtype=torch.float16,
            num_dp_ranks=1,
            pp_size=1,
            is_encoder_decoder=False,
            require_mlp_tp_gather=False,
            seq_len_fill_value=1,
            encoder_len_fill_value=0,
            num_tokens_per_req=at.width,
            cache_loc_dtype=torch.int64,
            enable_mamba_track=True,
        )
    judged = 0
    for (owner, name), demand in demands("target_verify").items():
        tensor = getattr(buffers, name, None) if owner == "DecodeInputBuffers" else None
        if tensor is not None:
            needed = demand.shape(at)
            assert [n for n in needed if n is not None] == list(tensor.shape[: len(needed) - needed.count(None)]), name
            judged += 1
    assert judged >= 12


@given(SIZES)
@settings(max_examples=200)
def test_the_verify_mask_has_exactly_the_elements_that_the_engine_counts(at: Extents) -> None:
    from sglang.srt.layers.attention.verify_mask import tree_mask_numel
    from sglang.srt.speculative.eagle_utils import TreeMaskMode

    ours = demands("target_verify")["VerifyMask", "buffer"].shape(at)
    assert ours == (tree_mask_numel(TreeMaskMode.FULL_MASK, at.batch, at.width, at.context),)


@given(SIZES)
@settings(max_examples=200)
def test_a_draft_steps_indices_are_as_wide_as_the_engine_makes_them(at: Extents) -> None:
    from sglang.srt.speculative.spec_utils import draft_kv_indices_buffer_width

    steps = Extents(batch=at.batch, width=at.topk, steps=at.steps, topk=at.topk, context=at.context)
    ours = demands("draft")["TritonMultiStepDraftBackend", "cuda_graph_kv_indices"].shape(steps)
    assert ours == (at.steps, draft_kv_indices_buffer_width(at.batch, at.topk, at.context))
