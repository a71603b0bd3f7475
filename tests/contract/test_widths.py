from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.contract.settings import resolve
from ddtree_doctor.contract.widths import DRAFT_EXTEND, MULTI_LAYER_DRAFT_EXTEND, WIDTHS, Terms, widths
from ddtree_doctor.facts.model import Engine as EngineFacts
from ddtree_doctor.facts.model import Option
from ddtree_doctor.knowledge import NotKnown
from tests.contract.engine_rule import Engine
from tests.strategies import ALGORITHMS, facts

DRAFT = ("--speculative-draft-model-path", "d")
TREE = ("--speculative-num-steps", "5", "--speculative-eagle-topk", "4", "--speculative-num-draft-tokens", "17")
CHAIN = ("--speculative-num-steps", "5", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "6")
LATER = {"draft_extend": "draft_tokens", "multi_layer_draft_extend": "draft_tokens+front_tokens"}
OLDER = {"draft_extend": "steps+1", "multi_layer_draft_extend": "steps+1+step"}
DENSE = {"architectures": ["Qwen3ForCausalLM"]}


def terms(algorithm: str, *words: str, traits: Any = LATER, **more: Any) -> Terms:
    option = Option(name="enable_multi_layer_eagle", options=("--enable-multi-layer-eagle",), arity="0")
    engine = EngineFacts(traits=traits, options=(option,))
    case = facts("--speculative-algorithm", algorithm, *words, engine=engine, **{"target": DENSE, **more})
    return Terms(settings=resolve(case), facts=case)


def found(algorithm: str, *words: str, **more: Any) -> dict[str, tuple[str, int]]:
    at = terms(algorithm, *words, **more)
    return {role: (width.worker, width.of(at)) for role, width in widths(at).items()}


def test_ddtree_verifies_its_budget_and_the_root_and_drafts_a_block() -> None:
    words = ("--speculative-num-draft-tokens", "8", "--speculative-ddtree-budget", "32")
    assert found("DDTREE", *words) == {"target_verify": ("target", 33), "draft": ("draft", 8)}


def test_dflash_verifies_and_drafts_a_block() -> None:
    expected = {"target_verify": ("target", 8), "draft": ("draft", 8)}
    assert found("DFLASH", "--speculative-num-draft-tokens", "8") == expected


def test_under_attention_data_parallelism_a_block_is_drafted_without_a_graph() -> None:
    """`DFlashWorkerV2.init_cuda_graphs` of 0.5.23 keeps the draft eager there, and says so in its log."""
    words = ("--speculative-num-draft-tokens", "8", "--tp-size", "8", "--attn-dp-size", "2")
    assert set(found("DFLASH", *words)) == {"target_verify"}


@pytest.mark.parametrize("name", ["EAGLE", "EAGLE3", "NEXTN", "STANDALONE"])
def test_stepwise_drafts_verify_their_tokens_draft_topk_branches_and_extend(name: str) -> None:
    expected = {"target_verify": ("target", 17), "draft": ("draft", 4), "draft_extend": ("draft", 17)}
    assert found(name, *TREE) == expected
    assert found(name, *TREE, traits=OLDER)["draft_extend"] == ("draft", 6)


def test_where_the_form_is_not_recognised_a_chains_width_is_known_and_a_trees_is_not() -> None:
    assert found("EAGLE", *CHAIN, traits={})["draft_extend"] == ("draft", 6)
    at = terms("EAGLE", *TREE, traits={})
    with pytest.raises(NotKnown, match="releases differ"):
        widths(at)["draft_extend"].of(at)


def test_one_step_needs_no_draft_forward() -> None:
    words = ("--speculative-num-steps", "1", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "2")
    assert set(found("EAGLE", *words)) == {"target_verify", "draft_extend"}


@pytest.mark.parametrize(
    ("form", "width"), [("steps+1+step", 10), ("draft_tokens", 6), ("draft_tokens+front_tokens", 6)]
)
def test_multi_layer_eagle_has_three_forms(form: str, width: int) -> None:
    words = (*CHAIN, "--enable-multi-layer-eagle")
    expected = {"target_verify": ("target", 6), "draft_extend": ("draft", width)}
    assert found("EAGLE", *words, traits={"multi_layer_draft_extend": form}) == expected


def test_a_hybrid_models_front_tokens_are_not_known_unless_switched_off() -> None:
    hybrid = {**DENSE, "linear_conv_kernel_dim": 4}
    words = (*CHAIN, "--enable-multi-layer-eagle")
    at = terms("EAGLE", *words, target=hybrid)
    with pytest.raises(NotKnown, match="front tokens"):
        widths(at)["draft_extend"].of(at)
    off = {"SGLANG_ENABLE_MTP_BOUNDARY_KV_FIX": "0"}
    assert found("EAGLE", *words, target=hybrid, **off)["draft_extend"] == ("draft", 6)


@pytest.mark.parametrize(("config", "draft"), [({"block_size": 7}, 7), ({"sample_from_anchor": False}, 8)])
def test_dspark_drafts_one_less_than_it_verifies_unless_it_keeps_the_anchor(config: dict[str, Any], draft: int) -> None:
    words = ("--speculative-dspark-block-size", "7", *DRAFT)
    expected = {"target_verify": ("target", 8), "draft": ("draft", draft)}
    assert found("DSPARK", *words, draft=config) == expected


def test_uno_drafts_its_steps_and_the_root_for_a_tree_else_what_it_verifies() -> None:
    assert found("UNO", *TREE) == {"target_verify": ("target", 17), "draft": ("target", 6)}
    assert found("UNO", "--speculative-num-draft-tokens", "8")["draft"] == ("target", 8)


def test_the_rest() -> None:
    assert found("NONE") == {"decode": ("target", 1)}
    assert found("NGRAM", "--speculative-num-draft-tokens", "33") == {"target_verify": ("target", 33)}
    assert found("FROZEN_KV_MTP", *TREE) == {"target_verify": ("target", 17), "draft": ("draft", 4)}


def test_a_plugins_width_is_not_known() -> None:
    at = terms("TURBO")
    assert list(widths(at)) == ["target_verify"]
    with pytest.raises(NotKnown, match="TURBO is an algorithm that the contract does not know"):
        widths(at)["target_verify"].of(at)


def test_a_diffusion_model_decodes_blocks_of_its_own() -> None:
    at = terms("NONE", "--dllm-algorithm", "LowConfidence")
    with pytest.raises(NotKnown, match="diffusion"):
        widths(at)["decode"].of(at)


def test_every_algorithm_has_its_row() -> None:
    assert set(WIDTHS) == {*ALGORITHMS, "MULTI_LAYER_EAGLE"} - {"NEXTN"}
    assert set(DRAFT_EXTEND) <= set(MULTI_LAYER_DRAFT_EXTEND) | {"steps+1"}


@pytest.mark.engine
@pytest.mark.parametrize("algorithm", ["EAGLE", "EAGLE3", "STANDALONE", "NGRAM", "DFLASH", "DSPARK", "UNO"])
def test_the_engines_hook_gives_the_same_verify_width(engine: Engine, algorithm: str) -> None:
    for tokens in (2, 8, 17, 33):
        at = terms(algorithm, "--speculative-num-draft-tokens", str(tokens), *DRAFT, draft=DENSE)
        mine = widths(at)
        question = {"function": "verify_width", "algorithm": algorithm, "num_draft_tokens": tokens}
        assert mine["target_verify"].of(at) == engine.ask(**question, is_draft_worker=False)
        if algorithm in ("DFLASH", "DSPARK"):
            assert mine["draft"].of(at) == engine.ask(**question, is_draft_worker=True)


@pytest.mark.engine
@given(steps=st.integers(2, 8), topk=st.integers(2, 8), tokens=st.integers(2, 64))
def test_the_engines_draft_phases_have_the_same_widths(engine: Engine, steps: int, topk: int, tokens: int) -> None:
    flags = {"steps": steps, "eagle-topk": topk, "draft-tokens": tokens}
    names = {"steps": "num-steps", "draft-tokens": "num-draft-tokens"}
    words = [word for name, n in flags.items() for word in (f"--speculative-{names.get(name, name)}", str(n))]
    at = terms("EAGLE", *words)
    for role, phase in (("draft", "draft_decode"), ("draft_extend", "draft_extend")):
        theirs = engine.ask(function="phase_width", phase=phase, steps=steps, topk=topk, num_draft_tokens=tokens)
        assert widths(at)[role].of(at) == theirs
