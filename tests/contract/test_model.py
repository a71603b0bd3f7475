from __future__ import annotations

from ddtree_doctor.contract.build import build
from ddtree_doctor.contract.settings import resolve
from tests.strategies import facts


def test_what_is_unknown_is_listed_with_its_reason() -> None:
    found = resolve(facts("--tp-size", "eight")).unknown()
    assert "--tp-size eight" in found["tp"]
    assert "algorithm" not in found


def test_a_role_is_found_by_name_and_named_by_its_subject() -> None:
    found = build(facts("--speculative-algorithm", "NGRAM"))
    demand = found.role("target_verify")
    assert demand is not None
    assert demand.subject == "NGRAM/target_verify"
    assert found.role("draft") is None
