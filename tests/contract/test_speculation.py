from __future__ import annotations

import pytest

from ddtree_doctor.contract.given import Given
from ddtree_doctor.contract.speculation import speculation
from ddtree_doctor.contract.speculation_model import FIELDS
from tests.contract.launches import DRAFT, QWEN, numbers, resolved
from tests.strategies import facts


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
