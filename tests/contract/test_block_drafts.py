from __future__ import annotations

from typing import Any

import pytest

from ddtree_doctor.contract.given import Given
from ddtree_doctor.contract.speculation import speculation
from tests.contract.launches import DRAFT, resolved
from tests.strategies import facts


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
