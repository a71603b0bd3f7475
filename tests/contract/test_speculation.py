from __future__ import annotations

from typing import Any

import pytest

from ddtree_doctor.contract.given import Given
from ddtree_doctor.contract.speculation import speculation
from ddtree_doctor.contract.speculation_model import FIELDS
from tests.strategies import facts

LLAMA = {"architectures": ["LlamaForCausalLM"]}
QWEN = {"architectures": ["Qwen3ForCausalLM"]}
DRAFT = ("--speculative-draft-model-path", "d")


def resolved(algorithm: str, *words: str, **configs: Any) -> dict[str, Any]:
    found = speculation(Given(facts("--speculative-algorithm", algorithm, *words, **configs)))
    return {name: getattr(found, name).value for name in ("algorithm", *FIELDS)}


def numbers(algorithm: str, *words: str, **configs: Any) -> tuple[Any, ...]:
    """(draft tokens, steps, topk)."""
    found = resolved(algorithm, *words, **configs)
    return found["num_draft_tokens"], found["num_steps"], found["topk"]


def test_without_an_algorithm_no_speculative_flag_counts() -> None:
    found = speculation(Given(facts("--speculative-num-draft-tokens", "8")))
    assert found.algorithm.value == "NONE"
    assert [getattr(found, name).value for name in FIELDS] == [None] * 5
    assert all(getattr(found, name).known for name in FIELDS)


def test_nextn_is_eagle() -> None:
    assert resolved("nextn", target=QWEN)["algorithm"] == "EAGLE"


@pytest.mark.parametrize("name", ["EAGLE", "NEXTN"])
def test_a_gemma_4_assistant_as_draft_means_frozen_kv_mtp(name: str) -> None:
    assistant = {"architectures": ["Gemma4AssistantForCausalLM"]}
    assert resolved(name, *DRAFT, draft=assistant)["algorithm"] == "FROZEN_KV_MTP"


@pytest.mark.parametrize(("target", "expected"), [(LLAMA, (8, 5, 4)), (QWEN, (4, 3, 1))])
def test_eagle_chooses_by_target_where_nothing_is_given(target: dict[str, Any], expected: tuple[int, ...]) -> None:
    assert numbers("EAGLE3", target=target) == expected


def test_without_the_targets_config_eagles_choice_is_unknown_and_says_why() -> None:
    found = speculation(Given(facts("--speculative-algorithm", "EAGLE")))
    assert [getattr(found, name).known for name in FIELDS] == [False, False, False, True, True]
    assert "not there" in found.num_steps.why


def test_standalone_chooses_without_a_config() -> None:
    assert numbers("STANDALONE") == (4, 3, 1)


def test_a_chains_length_follows_from_its_steps() -> None:
    found = speculation(
        Given(
            facts(
                *("--speculative-algorithm", "EAGLE", "--speculative-num-steps", "5"),
                *("--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "16"),
            )
        )
    )
    assert (found.num_draft_tokens.value, found.num_draft_tokens.origin) == (6, "forced")
    assert "16 is overruled" in found.num_draft_tokens.why


def test_a_tree_keeps_the_draft_tokens_given() -> None:
    words = ("--speculative-num-steps", "5", "--speculative-eagle-topk", "8", "--speculative-num-draft-tokens", "64")
    assert numbers("EAGLE", *words) == (64, 5, 8)


def test_adaptive_speculation_has_no_one_width() -> None:
    assert numbers("EAGLE", "--speculative-adaptive", target=QWEN) == (None, None, 1)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), (12, 1, 10)),
        (("--speculative-num-draft-tokens", "33"), (33, 3, 10)),
        (("--speculative-ngram-max-bfs-breadth", "4"), (12, 3, 4)),
    ],
)
def test_ngram_searches_in_breadth(words: tuple[str, ...], expected: tuple[int, ...]) -> None:
    assert numbers("NGRAM", *words) == expected


@pytest.mark.parametrize(
    ("words", "config", "block"),
    [
        (("--speculative-num-draft-tokens", "8"), None, 8),
        (("--speculative-dflash-block-size", "8"), None, 8),
        ((), {"block_size": 8}, 8),
        ((), {"hidden_size": 64}, 16),
        ((), None, None),
    ],
)
def test_dflash_verifies_the_block_it_drafts(words: tuple[str, ...], config: Any, block: int | None) -> None:
    found = resolved("DFLASH", *words, *DRAFT, draft=config)
    assert (found["num_draft_tokens"], found["block_size"]) == (block, block)
    assert (found["num_steps"], found["topk"]) == (1, 1)


def test_a_forks_flag_that_reshapes_dflash_leaves_its_width_unknown() -> None:
    words = ("--speculative-num-draft-tokens", "8", "--speculative-dflash-tree-width", "4")
    found = resolved("DFLASH", *words)
    assert (found["num_draft_tokens"], found["block_size"]) == (None, 8)


@pytest.mark.parametrize(
    ("words", "config", "tokens", "gamma"),
    [
        (("--speculative-dspark-block-size", "7"), None, 8, 7),
        (("--speculative-num-draft-tokens", "8"), None, 8, 7),
        ((), {"dflash_config": {"block_size": 5}}, 6, 5),
        ((), {"hidden_size": 64}, 8, 7),
        ((), None, None, None),
    ],
)
def test_dspark_verifies_its_drafted_tokens_and_one_more(
    words: tuple[str, ...], config: Any, tokens: int | None, gamma: int | None
) -> None:
    found = resolved("DSPARK", *words, *DRAFT, draft=config)
    assert (found["num_draft_tokens"], found["block_size"]) == (tokens, gamma)


def test_dspark_may_be_bundled_in_the_target() -> None:
    assert resolved("DSPARK", target={"dspark_block_size": 4})["num_draft_tokens"] == 5


def test_uno_without_a_tree_drafts_in_one_forward() -> None:
    assert numbers("UNO", "--speculative-num-draft-tokens", "8", "--speculative-num-steps", "5") == (8, 1, 1)


def test_uno_with_a_tree_keeps_steps_and_topk() -> None:
    words = ("--speculative-num-steps", "5", "--speculative-eagle-topk", "4", "--speculative-num-draft-tokens", "16")
    assert numbers("UNO", *words) == (16, 5, 4)


@pytest.mark.parametrize(
    ("words", "budget", "reads"),
    [
        (("--speculative-ddtree-budget", "32"), 32, "without the root"),
        (("--speculative-dflash-tree-budget", "33"), 32, "counts the root"),
        ((), 7, "block size - 1"),
    ],
)
def test_a_budget_counts_nodes_without_the_root_and_says_how_it_was_read(
    words: tuple[str, ...], budget: int, reads: str
) -> None:
    block = ("--speculative-algorithm", "DDTREE", "--speculative-num-draft-tokens", "8")
    found = speculation(Given(facts(*block, *words)))
    assert (found.budget.value, found.block_size.value, found.num_draft_tokens.value) == (budget, 8, 8)
    assert reads in found.budget.why


def test_a_plugins_algorithm_keeps_what_is_given() -> None:
    words = ("--speculative-num-draft-tokens", "9", "--speculative-num-steps", "3")
    assert numbers("TURBO", *words) == (9, 3, None)


def test_an_algorithm_named_at_run_time_leaves_its_numbers_unknown() -> None:
    from dataclasses import replace

    case = facts()
    case = replace(case, launch=replace(case.launch, unknown={"speculative_algorithm": "$ALGO is not set"}))
    found = speculation(Given(case))
    assert not any(getattr(found, name).known for name in ("algorithm", "multi_layer", *FIELDS))
    assert "$ALGO" in found.budget.why


def test_capturing_hidden_states_alone_does_not_speculate() -> None:
    assert resolved("EAGLE3", "--enable-return-aux-hidden-states")["algorithm"] == "NONE"
