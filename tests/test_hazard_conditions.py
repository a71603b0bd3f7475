"""A hazard holds if all its conditions do; one that fails decides, whatever else is not known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ddtree_doctor.contract.build import build
from ddtree_doctor.facts.model import Engine, Gpu, Package
from ddtree_doctor.hazard_conditions import holds, reports
from ddtree_doctor.hazards import Hazard
from ddtree_doctor.knowledge import NotKnown
from ddtree_doctor.rule import Case, Check
from tests.strategies import facts

B300 = Gpu(name="B300", capability=(10, 3))
DDTREE = (
    "--speculative-algorithm",
    "DDTREE",
    "--speculative-num-draft-tokens",
    "8",
    "--speculative-ddtree-budget",
    "32",
)


class Reporting(Check):
    """A rule that reports."""

    code, why, confidence, severity = "DD999", "because.", "reported", "warning"


def case(*words: str, packages: dict[str, str] | None = None, **given: Any) -> Case:
    found = facts(*(words or DDTREE), **given)
    host = replace(found.host, packages={name: Package(name=name, version=v) for name, v in (packages or {}).items()})
    found = replace(found, host=host)
    return Case(facts=found, contract=build(found))


def hazard(**when: Any) -> Hazard:
    return Hazard(
        id="a-hazard",
        kind="switch",
        title="this",
        effect="breaks",
        cause="not established",
        provenance="reported",
        seen="2026-07",
        sources=("https://github.com/a/b/issues/1",),
        fix=("that",),
        when=when,
    )


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ({"arch": ["sm_103"]}, True),
        ({"arch": ["sm_120"]}, False),
        ({"algorithm": ["DDTREE"]}, True),
        ({"algorithm": ["EAGLE"]}, False),
        ({"number": {"budget": ">31"}}, True),
        ({"number": {"budget": ">32"}}, False),
        ({"number": {"budget": ">=32", "block_size": "==8"}}, True),
        ({"switch": {"speculative_ddtree_budget": []}}, True),
        ({"switch": {"speculative_ddtree_budget": ["32"]}}, True),
        ({"switch": {"speculative_ddtree_budget": ["31"]}}, False),
        ({"switch": {"enable_two_batch_overlap": []}}, False),
        ({"arch": ["sm_103"], "algorithm": ["DDTREE"], "number": {"budget": ">8"}}, True),
    ],
)
def test_conditions_on_launch_and_gpu(when: dict[str, Any], expected: bool) -> None:
    assert holds(hazard(**when), case(gpu=B300)) is expected


@pytest.mark.parametrize(
    ("value", "wanted", "expected"),
    [
        ("1", [], True),
        ("0", [], False),
        ("false", [], False),
        ("", [], False),
        ("compact", ["compact"], True),
        ("static", ["compact"], False),
    ],
)
def test_an_environment_variable_is_on_unless_it_says_off(value: str, wanted: list[str], expected: bool) -> None:
    assert holds(hazard(environment={"A": wanted}), case(A=value)) is expected


def test_a_version_is_compared_as_a_version() -> None:
    has = case(packages={"flashinfer-python": "0.6.12"})

    assert holds(hazard(package={"flashinfer-python": "<0.6.16"}), has)
    assert not holds(hazard(package={"flashinfer-python": "<0.6.4"}), has)


def test_the_version_of_sglang_is_the_engine_s() -> None:
    assert holds(hazard(package={"sglang": ">=0.5.20"}), case(engine=Engine(version="0.5.23")))


@pytest.mark.parametrize(
    "when",
    [{"arch": ["sm_103"]}, {"package": {"torch": "<3"}}, {"model_type": ["kimi_k2"]}, {"attention_backend": ["x"]}],
)
def test_what_is_not_known_leaves_the_hazard_open(when: dict[str, Any]) -> None:
    with pytest.raises(NotKnown):
        holds(hazard(**when), case())


def test_a_condition_that_fails_decides_over_one_that_is_not_known() -> None:
    assert not holds(hazard(arch=["sm_103"], algorithm=["EAGLE"]), case())


def test_hazards_that_hold_are_reported_before_one_that_is_open() -> None:
    found = reports(Reporting(), case(), (hazard(arch=["sm_103"]), hazard(algorithm=["DDTREE"])))

    first = next(found)
    assert first.confidence == "reported"
    assert "not established" in first.message
    assert first.references == ("https://github.com/a/b/issues/1",)
    with pytest.raises(NotKnown, match="a-hazard"):
        next(found)
