from __future__ import annotations

import pytest

from ddtree_doctor.contract.layout import LAYOUTS, TRAITS, layout_named, recognise

PER_REQUEST, PER_BS = "get_num_tokens_per_req_for_target_verify", "get_num_tokens_per_bs_for_target_verify"


@pytest.mark.parametrize(
    ("attribute", "methods", "name"),
    [
        ("num_tokens_per_bs", [], "num-tokens-per-bs"),
        ("num_tokens_per_bs", [PER_BS], "width-hook"),
        ("captured_req_width", [PER_REQUEST, PER_BS], "captured-req-width"),
        ("captured_req_width", [PER_REQUEST], "captured-req-width"),
    ],
    ids=["0.5.10", "0.5.15", "0.5.18", "0.5.23"],
)
def test_a_layout_is_told_by_what_the_source_holds(attribute: str, methods: list[str], name: str) -> None:
    found = recognise(["max_bs", attribute], ["is_eagle", *methods])
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(("attributes", "methods"), [([], [PER_REQUEST]), (["captured_req_width"], []), ([], [])])
def test_what_is_no_layout_is_not_recognised(attributes: list[str], methods: list[str]) -> None:
    assert recognise(attributes, methods) is None


def test_only_the_oldest_layout_gives_every_algorithm_its_draft_tokens() -> None:
    assert [layout.name for layout in LAYOUTS if not layout.verify_by_algorithm] == ["num-tokens-per-bs"]


def test_names_are_unique_and_found() -> None:
    assert all(layout_named(layout.name) is layout for layout in LAYOUTS)
    assert layout_named("no such layout") is None
    assert len({trait.name for trait in TRAITS}) == len(TRAITS)
