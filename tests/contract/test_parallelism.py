from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ddtree_doctor.contract.given import Given
from ddtree_doctor.contract.parallelism import Parallelism, parallelism
from ddtree_doctor.facts.model import Engine as EngineFacts
from tests.contract.engine_rule import Engine
from tests.strategies import facts

NEWEST = EngineFacts(traits={"gather_a2a": ("none", "flashinfer", "mori_epv2", "flashinfer_megamoe", "mori")})
OLDEST = EngineFacts(traits={"gather_a2a": ("none",)})


def ranks(*words: str, engine: EngineFacts = NEWEST, **environment: str) -> Parallelism:
    return parallelism(Given(facts(*words, engine=engine, **environment)))


@pytest.mark.parametrize(
    ("words", "tp", "dp", "attn_tp", "attention"),
    [
        ((), 1, 1, 1, False),
        (("--tp-size", "8"), 8, 1, 8, False),
        (("--tp-size", "8", "--dp-size", "4"), 8, 4, 8, False),
        (("--tp-size", "8", "--dp-size", "4", "--enable-dp-attention"), 8, 4, 2, True),
        (("--tp-size", "8", "--attn-dp-size", "8"), 8, 8, 1, True),
        (("--tp-size", "8", "--enable-dp-attention"), 8, 1, 8, False),
        (("--tp-size", "8", "--attn-cp-size", "4"), 8, 1, 2, False),
    ],
)
def test_attention_tp_is_what_groups_leave_of_tp(
    words: tuple[str, ...], tp: int, dp: int, attn_tp: int, attention: bool
) -> None:
    found = ranks(*words)
    assert (found.tp.value, found.dp.value) == (tp, dp)
    assert (found.attn_tp.value, found.dp_attention.value) == (attn_tp, attention)


def test_ranks_that_do_not_divide_are_unknown_and_say_so() -> None:
    found = ranks("--tp-size", "8", "--attn-dp-size", "3")
    assert "8 does not divide" in found.attn_tp.why


def test_prefill_context_parallel_chooses_its_size_itself() -> None:
    assert not ranks("--tp-size", "8", "--enable-prefill-cp").attn_tp.known
    assert ranks("--tp-size", "8", "--enable-prefill-cp", "--attn-cp-size", "2").attn_tp.value == 4


@pytest.mark.parametrize(
    ("words", "gather"),
    [
        ((), False),
        (("--moe-a2a-backend", "deepep"), True),
        (("--moe-a2a-backend", "none"), False),
        (("--moe-dense-tp-size", "1"), True),
        (("--attn-dp-size", "2"), True),
        (("--moe-a2a-backend", "deepep", "--disable-attn-tp-gather"), False),
    ],
)
def test_activations_are_gathered_for_all_to_all_dense_tp_or_dp_attention(words: tuple[str, ...], gather: bool) -> None:
    assert ranks("--tp-size", "8", *words).gather.value is gather


DP_DENSE = ("--tp-size", "8", "--attn-dp-size", "8", "--moe-dense-tp-size", "1", "--enable-dp-lm-head")


def test_releases_differ_in_the_all_to_all_backends_that_gather() -> None:
    words = (*DP_DENSE, "--moe-a2a-backend", "flashinfer")
    assert ranks(*words).gather.value is True
    assert ranks(*words, engine=OLDEST).gather.value is False
    assert "not recognised" in ranks(*words, engine=EngineFacts()).gather.why


def test_mori_gathers_by_its_switches() -> None:
    words = (*DP_DENSE, "--moe-a2a-backend", "mori")
    first = {"SGLANG_MORI_EP_V2": "0"}
    assert "SGLANG_MORI_EP_V2" in ranks(*words).mlp_gather.why
    assert ranks(*words, **first).mlp_gather.value is False
    assert ranks(*words, **first, SGLANG_MORI_RECV_BOUND="1").mlp_gather.value is True
    assert ranks(*words, SGLANG_MORI_EP_V2="true").mlp_gather.value is True


BACKENDS = ("none", "deepep", "mooncake", "nixl", "mori", "flashinfer", "megamoe", "pplx", "flashinfer_megamoe")
QUESTION = {
    "tp": st.integers(1, 32),
    "dp": st.integers(1, 32),
    "backend": st.sampled_from(BACKENDS),
    "dense_tp": st.none() | st.integers(1, 8),
    "dp_lm_head": st.booleans(),
    "opt_out": st.booleans(),
}


@pytest.mark.engine
@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(**QUESTION)
def test_the_gathers_are_the_engines(engine: Engine, **question: Any) -> None:
    assume(question["tp"] % question["dp"] == 0)
    words = ["--tp-size", str(question["tp"]), "--attn-dp-size", str(question["dp"])]
    words += ["--moe-a2a-backend", question["backend"]]
    words += ["--moe-dense-tp-size", str(question["dense_tp"])] if question["dense_tp"] else []
    words += ["--enable-dp-lm-head"] if question["dp_lm_head"] else []
    words += ["--disable-attn-tp-gather"] if question["opt_out"] else []
    found = ranks(*words, SGLANG_MORI_EP_V2="0")
    assert [found.mlp_gather.value, found.attn_gather.value] == engine.ask(function="gathers", **question)
