"""The table of hazards is read strictly, and every entry can be traced and judged."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from ddtree_doctor.hazard_conditions import TESTS
from ddtree_doctor.hazards import CONDITIONS, HAZARDS, KINDS, parse

ENTRY: dict[str, Any] = {
    "id": "a-hazard",
    "kind": "switch",
    "title": "a switch",
    "effect": "a crash",
    "cause": "not established",
    "provenance": "reported",
    "seen": "2026-07",
    "sources": ["https://github.com/a/b/issues/1"],
    "fix": ["switch it off"],
    "when": {"switch": {"a": []}},
}


def table(*entries: dict[str, Any]) -> str:
    return json.dumps({"schema": 1, "hazards": entries})


def test_a_whole_entry_is_read() -> None:
    (hazard,) = parse(table(ENTRY))

    assert (hazard.id, hazard.sources) == ("a-hazard", ("https://github.com/a/b/issues/1",))


@pytest.mark.parametrize("name", ENTRY)
def test_an_entry_with_a_field_missing_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        parse(table({key: value for key, value in ENTRY.items() if key != name}))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "weather"),
        ("provenance", "hearsay"),
        ("when", {}),
        ("when", {"moon": ["full"]}),
        ("sources", []),
    ],
)
def test_an_entry_with_a_strange_value_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match="a-hazard"):
        parse(table(ENTRY | {field: value}))


def test_an_id_that_comes_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="not unique"):
        parse(table(ENTRY, ENTRY))


def test_every_condition_has_a_test() -> None:
    assert set(CONDITIONS) == set(TESTS)


def test_every_kind_is_in_the_table() -> None:
    assert {hazard.kind for hazard in HAZARDS} == set(KINDS)


@pytest.mark.parametrize("hazard", HAZARDS, ids=lambda hazard: hazard.id)
def test_an_entry_is_dated_sourced_and_says_what_to_do(hazard: Any) -> None:
    assert re.fullmatch(r"20\d\d-\d\d(-\d\d)?", hazard.seen)
    assert all(re.fullmatch(r"https://[^\s]+", url) for url in hazard.sources)
    assert hazard.fix
    assert hazard.cause
    assert hazard.kind != "architecture" or "arch" in hazard.when
    assert hazard.kind != "package" or "package" in hazard.when
