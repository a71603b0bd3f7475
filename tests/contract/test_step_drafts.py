from __future__ import annotations

from typing import Any

import pytest

from ddtree_doctor.contract.given import Given
from ddtree_doctor.contract.speculation import speculation
from ddtree_doctor.contract.speculation_model import FIELDS
from tests.contract.launches import LLAMA, QWEN, numbers, speculative
from tests.strategies import facts


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
    found = speculative(
        "EAGLE", "--speculative-num-steps", "5", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "16"
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


def test_uno_without_a_tree_drafts_in_one_forward() -> None:
    assert numbers("UNO", "--speculative-num-draft-tokens", "8", "--speculative-num-steps", "5") == (8, 1, 1)


def test_uno_with_a_tree_keeps_steps_and_topk() -> None:
    words = ("--speculative-num-steps", "5", "--speculative-eagle-topk", "4", "--speculative-num-draft-tokens", "16")
    assert numbers("UNO", *words) == (16, 5, 4)
