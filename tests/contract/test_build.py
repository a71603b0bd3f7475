from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from ddtree_doctor.contract.build import build
from ddtree_doctor.contract.capture import default_list
from ddtree_doctor.contract.model import Contract, RoleContract
from ddtree_doctor.facts.model import Engine, Facts, Gpu
from tests.contract.test_settings import hostile
from tests.strategies import facts

DENSE = {"architectures": ["Qwen3ForCausalLM"]}
BLACKWELL = Gpu(name="x", capability=(12, 0), memory_mib=97887)
NEWEST = Engine(
    traits={"draft_extend": "draft_tokens", "max_bs_capped_by_running": True, "gather_a2a": ("none", "flashinfer")}
)
FOUNDING = ("--tp-size", "8", "--speculative-algorithm", "DDTREE", "--speculative-num-draft-tokens", "8")
GATHER = ("--moe-a2a-backend", "deepep")


def contract(*words: str, **more: Any) -> Contract:
    return build(facts(*words, **{"target": DENSE, "gpu": BLACKWELL, "engine": NEWEST, **more}))


def role(found: Contract, name: str) -> RoleContract:
    demand = found.role(name)
    assert demand is not None
    return demand


def test_the_founding_launch_demands_33_for_verify_and_8_for_the_draft() -> None:
    found = contract(*FOUNDING, "--speculative-ddtree-budget", "32")
    assert [(r.subject, r.worker, r.width.value) for r in found.roles] == [
        ("DDTREE/target_verify", "target", 33),
        ("DDTREE/draft", "draft", 8),
    ]


@pytest.mark.parametrize(("budget", "lost", "aligned"), [("32", 7, (31, 39)), ("31", 0, (31,))])
def test_a_gather_over_eight_ranks_loses_what_a_width_does_not_divide(
    budget: str, lost: int, aligned: tuple[int, ...]
) -> None:
    found = contract(*FOUNDING, *GATHER, "--speculative-ddtree-budget", budget)
    verify = role(found, "target_verify")
    assert verify.mul_base.value == 8
    assert verify.lost_bs.need()[:7] == tuple(range(1, lost + 1))[:7]
    assert verify.aligned_budgets == aligned
    assert role(found, "draft").lost_bs.value == ()
    assert role(found, "draft").aligned_budgets == ()


def test_without_a_gather_every_size_up_to_the_pool_is_captured() -> None:
    verify = role(contract(*FOUNDING, "--speculative-ddtree-budget", "32"), "target_verify")
    assert (verify.mul_base.value, verify.lost_bs.value) == (1, ())
    assert verify.capture_bs.value == tuple(bs for bs in default_list(512, speculative=True) if bs <= 48)


def test_eagles_draft_runners_filter_their_list_as_if_a_request_were_one_token() -> None:
    words = ("--speculative-num-steps", "3", "--speculative-eagle-topk", "8", "--speculative-num-draft-tokens", "16")
    found = contract("--tp-size", "8", "--speculative-algorithm", "EAGLE", *words, *GATHER)
    assert role(found, "target_verify").capture_bs.need()[0] == 1
    assert role(found, "draft").capture_bs.need()[0] == 8
    assert role(found, "draft_extend").capture_bs.need()[0] == 8


def test_attention_groups_share_out_the_running_requests() -> None:
    words = ("--tp-size", "8", "--attn-dp-size", "8", "--max-running-requests", "64")
    assert max(role(contract(*words), "decode").capture_bs.need()) == 8


def test_with_graphs_off_nothing_is_captured_and_nothing_lost() -> None:
    decode = role(contract("--disable-cuda-graph"), "decode")
    assert (decode.capture_bs.value, decode.lost_bs.value) == ((), ())
    assert "no graphs" in decode.capture_bs.why


DSPARK = ("--tp-size", "8", "--attn-dp-size", "2", "--speculative-algorithm", "DSPARK", "--enable-dp-lm-head")


@pytest.mark.parametrize(("architecture", "base"), [("Qwen3DSparkModel", 1), ("DeepseekV4ForCausalLM", 4)])
def test_a_dense_dspark_draft_needs_no_gather_of_the_mlp(architecture: str, base: int) -> None:
    draft = {"architectures": [architecture], "block_size": 7}
    found = contract(*DSPARK, "--speculative-draft-model-path", "d", draft=draft)
    assert (role(found, "target_verify").mul_base.value, role(found, "draft").mul_base.value) == (4, base)


def test_an_unknown_gather_leaves_the_width_known() -> None:
    words = ("--tp-size", "8", "--attn-dp-size", "8", "--moe-dense-tp-size", "1", "--enable-dp-lm-head")
    verify = role(contract(*FOUNDING, *words[2:], *GATHER, engine=Engine()), "target_verify")
    assert verify.width.value == 8
    assert not verify.mul_base.known
    assert "not recognised" in verify.lost_bs.why


def test_without_an_algorithm_there_are_no_roles() -> None:
    assert contract("--speculative-algorithm").roles == ()


@given(hostile())
def test_no_launch_makes_building_raise_and_what_is_unknown_says_why(case: Facts) -> None:
    for demand in build(case).roles:
        for value in (demand.width, demand.mul_base, demand.capture_bs, demand.lost_bs):
            assert value.known or value.why
        if demand.width.known:
            assert demand.width.need() >= 1
