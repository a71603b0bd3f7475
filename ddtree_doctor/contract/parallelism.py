"""How a launch spreads over ranks, and whether activations are gathered over the attention-TP ranks.

Read from SGLang's `require_mlp_tp_gather` and `require_attn_tp_gather` (`utils/common.py`) and its derivation of the
attention-TP size (`runtime_context.py`). `dp_attention` true means that attention runs in `dp` data-parallel groups
inside the TP group, by either spelling: `--attn-dp-size N`, or `--dp-size N --enable-dp-attention`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ddtree_doctor.contract.given import Given
from ddtree_doctor.contract.values import derived, settle
from ddtree_doctor.knowledge import NotKnown, Value

__all__ = ["Parallelism", "parallelism"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallelism:
    """Ranks and gathers. `mlp_gather` and `attn_gather` are the two reasons to gather; `gather` is either."""

    tp: Value[int]
    dp: Value[int]
    dp_attention: Value[bool]
    attn_dp: Value[int]
    attn_tp: Value[int]
    attn_cp: Value[int]
    mlp_gather: Value[bool]
    attn_gather: Value[bool]
    gather: Value[bool]
    two_batch_overlap: Value[bool]


def parallelism(given: Given) -> Parallelism:
    """Resolve the ranks of a launch."""
    tp = replace(given.integer("tp_size", default=1), name="tp")
    dp_attention = settle("dp_attention", lambda: _dp_attention(given))
    dp = settle("dp", lambda: _dp(given))
    attn_dp = settle("attn_dp", lambda: derived("attn_dp", dp.need() if dp_attention.need() else 1, dp.why))
    attn_cp = settle("attn_cp", lambda: _attn_cp(given))
    mlp = settle("mlp_gather", lambda: _mlp_gather(given, tp, attn_dp))
    attention = settle("attn_gather", lambda: _attn_gather(given, tp, attn_dp))
    return Parallelism(
        tp=tp,
        dp=dp,
        dp_attention=dp_attention,
        attn_dp=attn_dp,
        attn_tp=settle("attn_tp", lambda: _attn_tp(tp, attn_dp, attn_cp)),
        attn_cp=attn_cp,
        mlp_gather=mlp,
        attn_gather=attention,
        gather=settle("gather", lambda: _either(mlp, attention)),
        two_batch_overlap=replace(given.switch("enable_two_batch_overlap"), name="two_batch_overlap"),
    )


def _dp_attention(given: Given) -> Value[bool]:
    groups = given.integer("attn_dp_size", default=1)
    if groups.need() > 1:
        return derived("dp_attention", True, groups.why)
    switch = given.switch("enable_dp_attention")
    if switch.need() and given.integer("dp_size", default=1).need() == 1:
        return derived("dp_attention", False, "--enable-dp-attention with one data-parallel group changes nothing")
    return replace(switch, name="dp_attention")


def _dp(given: Given) -> Value[int]:
    groups = given.integer("attn_dp_size", default=1)
    return replace(groups if groups.need() > 1 else given.integer("dp_size", default=1), name="dp")


def _attn_cp(given: Given) -> Value[int]:
    size = given.integer("attn_cp_size", default=1)
    if given.switch("enable_prefill_cp").value and size.value == 1:
        raise NotKnown("attn_cp", "--enable-prefill-cp lets the engine choose it by architecture; give --attn-cp-size")
    return replace(size, name="attn_cp")


def _attn_tp(tp: Value[int], attn_dp: Value[int], attn_cp: Value[int]) -> Value[int]:
    ranks, groups = tp.need(), attn_dp.need() * attn_cp.need()
    if groups < 1 or ranks < 1 or ranks % groups:
        raise NotKnown("attn_tp", f"tp {ranks} does not divide into {attn_dp.value} dp × {attn_cp.value} cp groups")
    return derived("attn_tp", ranks // groups, f"tp {ranks} / (dp {attn_dp.value} × cp {attn_cp.value})")


def _mlp_gather(given: Given, tp: Value[int], attn_dp: Value[int]) -> Value[bool]:
    """Whether the MLP's input is gathered from several attention groups: only under DP attention."""
    if attn_dp.need() == 1:
        return derived("mlp_gather", False, "attention is not data parallel")
    dense = given.integer("moe_dense_tp_size")
    if dense.known and dense.value is None:
        return derived("mlp_gather", True, "DP attention without --moe-dense-tp-size")
    if not given.switch("enable_dp_lm_head").need():
        return derived("mlp_gather", True, "DP attention without --enable-dp-lm-head")
    backend = given.text("moe_a2a_backend", default="none").need()
    if _always_gather(given, backend):
        return derived("mlp_gather", True, f"DP attention with the all-to-all backend {backend}")
    spans = dense.need() > tp.need() // attn_dp.need()
    return derived("mlp_gather", spans, f"dense TP {dense.value} against {tp.value} / {attn_dp.value} ranks a group")


def _always_gather(given: Given, backend: str) -> bool:
    """Whether DP ranks must agree on one batch size under this all-to-all backend in every case."""
    named = given.facts.engine.traits.get("gather_a2a")
    if named is None:
        raise NotKnown("mlp_gather", "the engine's rule for all-to-all backends is not recognised")
    if backend != "mori":
        return backend in named
    return any(_switched(given, *MORI_SWITCHES[name]) for name in named if name in MORI_SWITCHES)


def _switched(given: Given, variable: str, default: bool | None) -> bool:
    value = given.facts.launch.environment.get(variable, "").lower()
    if value not in SWITCH:
        if default is None:
            raise NotKnown("mlp_gather", f"with the all-to-all backend mori it depends on {variable}, which is not set")
        return default
    return SWITCH[value]


SWITCH = {"true": True, "1": True, "yes": True, "y": True, "false": False, "0": False, "no": False, "n": False}

MORI_SWITCHES: Mapping[str, tuple[str, bool | None]] = {
    "mori": ("SGLANG_MORI_RECV_BOUND", False),
    "mori_epv2": ("SGLANG_MORI_EP_V2", None),
}
"""Condition on the backend mori → (environment variable that switches it, its default); None: the model decides."""


def _attn_gather(given: Given, tp: Value[int], attn_dp: Value[int]) -> Value[bool]:
    """Whether attention's input is scattered over the attention-TP ranks."""
    if given.facts.engine.traits.get("attn_tp_gather_opt_out", True) and given.switch("disable_attn_tp_gather").need():
        return derived("attn_gather", False, "--disable-attn-tp-gather")
    backend = given.text("moe_a2a_backend", default="none").need()
    dense = given.integer("moe_dense_tp_size")
    if backend == "none" and dense.known and dense.value is None:
        return derived("attn_gather", False, "no all-to-all backend and no --moe-dense-tp-size")
    why = f"all-to-all backend {backend}" if backend != "none" else dense.why
    scattered = attn_dp.need() == 1 or attn_dp.need() < tp.need()
    return derived("attn_gather", scattered, why)


def _either(mlp: Value[bool], attention: Value[bool]) -> Value[bool]:
    for value in (mlp, attention):
        if value.value:
            return derived("gather", True, value.why)
    mlp.need(), attention.need()
    return derived("gather", False, f"{mlp.why}; {attention.why}")
