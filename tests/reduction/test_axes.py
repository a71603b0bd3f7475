"""What each axis says of a reduced case, from behaviours that probes would answer with."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.engine.job import Job
from ddtree_doctor.facts.shipped import shipped_engine
from ddtree_doctor.launch import read_command
from ddtree_doctor.reduction.axes import axes, budgets_of, captured_sizes, plain_decode, rewidened
from ddtree_doctor.reduction.record import Found
from ddtree_doctor.replay.catalogue import Ground, catalogue
from ddtree_doctor.replay.record import Behaviour, Gap, Pass
from ddtree_doctor.replay.scenario import Scenario
from ddtree_doctor.replay.shapes import TREES
from tests.report.sample import case

SAME = Gap(largest=0.0, scale=4.0, spread=0.0)
APART = Gap(largest=3.0, scale=4.0, spread=0.0)
START = Job(
    algorithm="NGRAM",
    options=("--speculative-algorithm", "NGRAM", "--page-size", "4", "--speculative-num-draft-tokens", "7"),
)
SCENARIOS = catalogue(Ground(width=7, sizes=(1, 2, 4), context=96, vocabulary=64, page_size=4, shapes=tuple(TREES)))


def behaviour(*, apart: bool = False, unknown: str = "", width: int = 7) -> Behaviour:
    one = Pass(scenario="s", step=0, bs=1, hit=True, captured_bs=1, key="1", replay=APART if apart else SAME, path=SAME)
    return Behaviour(
        host="cpu",
        algorithm="NGRAM",
        role="target_verify",
        backend="triton",
        dtype="float32",
        page_size=4,
        width=width,
        passes=() if unknown else (one,),
        unknown=unknown,
    )


def found(nodes: int = 2, **changes) -> Found:
    request = {"slot": 0, "prefix": 1, "parents": [-1] + [0] * nodes, "tokens": [3] * (nodes + 1)}
    request |= {"pads": 6 - nodes, "pad_token": 0}
    scenario = {"name": "s", "page_size": 4, "batches": [[request]]}
    return replace(Found(code="DD301", before=9, tests=4, scenarios=(scenario,), seen=behaviour(apart=True)), **changes)


class Answers:
    """Probes whose answers follow from what they are asked; `asked` keeps that."""

    def __init__(self, answer):
        self.case, self.answer, self.asked = case(), answer, []

    def seen(self, start, scenarios, *, code, sizes):
        self.asked.append((start, tuple(sizes), scenarios))
        return self.answer(start, tuple(sizes))


def verdicts(answer, smallest=None):
    probes = Answers(answer)
    return {axis.name: axis for axis in axes(probes, START, smallest or found(), (2,), (1, 2, 4))}


def test_a_case_that_fails_everywhere_says_so_on_each_axis():
    seen = verdicts(lambda *_: behaviour(apart=True), found(eager={"DD301": "…"}))
    assert seen["graph"].verdict.startswith("the eager forward fails by itself")
    assert seen["speculation"].verdict == "off fails too, by DD301"
    assert seen["captured sizes"].verdict == "fails with graphs for 2 only (of 1, 2, 4)"
    assert seen["budget"].verdict == "fails at 2 nodes; the launch has 6"


def test_a_case_that_fails_nowhere_else_says_so_on_each_axis():
    seen = verdicts(lambda *_: behaviour())
    assert seen["graph"].verdict == "only with graphs, not in the eager forward, which is clean"
    assert seen["speculation"].verdict.startswith("only on")
    assert seen["budget"].verdict == "fails at 6 nodes, not at 2, 4; the launch has 6"


def test_what_could_not_be_tested_is_named_with_its_reason():
    seen = verdicts(lambda *_: behaviour(unknown="the engine refuses this launch"))
    assert not seen["speculation"].tested
    assert "the engine refuses this launch" in seen["speculation"].verdict
    assert "2 was not tested: the engine refuses this launch" in seen["budget"].verdict
    assert not seen["backend"].tested


def test_an_algorithm_without_a_tree_has_no_budget_to_try():
    probes = Answers(lambda *_: behaviour())
    seen = {axis.name: axis for axis in axes(probes, replace(START, algorithm="DFLASH"), found(), (1,), (1,))}
    assert seen["budget"].verdict.startswith("not tested: DFLASH verifies no tree")


@pytest.mark.parametrize(
    ("fails", "left"),
    [
        (lambda sizes: True, (1,)),
        (lambda sizes: 4 in sizes, (4,)),
        (lambda sizes: {1, 4} <= set(sizes), (1, 4)),
        (lambda sizes: sizes == (1, 2, 4), (1, 2, 4)),
    ],
)
def test_captured_sizes_are_left_out_as_long_as_it_fails(fails, left):
    probes = Answers(lambda _, sizes: behaviour(apart=fails(sizes)))
    assert captured_sizes(probes, START, found(), (1, 2, 4)) == left


@given(st.integers(0, 6), st.integers(1, 64))
def test_budgets_to_try_hold_the_reduced_tree_and_are_smaller(nodes, budget):
    tried = budgets_of(found(nodes), budget)
    assert list(tried) == sorted(set(tried))
    assert all(max(nodes, 1) <= fewer < budget for fewer in tried)


@given(st.sampled_from(SCENARIOS), st.integers(1, 12))
def test_a_scenario_takes_any_width_and_keeps_requests_and_prefixes(scenario, width):
    other = rewidened(scenario, width)
    assert {batch.width for batch in other.batches} == {width}
    assert Scenario.from_json(other.to_json()) == other
    for before, after in zip(scenario.batches, other.batches, strict=True):
        assert [(r.slot, r.prefix) for r in before.requests] == [(r.slot, r.prefix) for r in after.requests]


def test_without_speculation_the_start_keeps_what_is_no_speculation():
    launch = read_command(["python3", "-m", "sglang.launch_server", *START.options], shipped_engine("0.5.23").options)
    plain = plain_decode(START, launch)
    assert (plain.algorithm, plain.options, plain.plugin) == ("NONE", ("--page-size", "4"), "")
