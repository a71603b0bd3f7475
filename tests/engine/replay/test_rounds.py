"""What serving requests on the real workers shows: one probe a launch, judged once, asserted on below."""

from dataclasses import replace

import pytest

from ddtree_doctor.checks import rules
from ddtree_doctor.checks.whole import Whole
from ddtree_doctor.judge import judge
from ddtree_doctor.ledger import Ledger
from ddtree_doctor.probe.warm import ROUNDS, behave_each
from tests.mutants.observed import Group, case_of

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.timeout(900)]

TRITON = "python3 -m sglang.launch_server --model-path target --attention-backend triton"
STEPS = "--speculative-num-steps 3 --speculative-eagle-topk 2 --speculative-num-draft-tokens 7"
LAUNCHES = {
    "NGRAM": f"{TRITON} --speculative-algorithm NGRAM --speculative-num-draft-tokens 7",
    "EAGLE": f"{TRITON} --speculative-algorithm EAGLE --speculative-draft-model-path eagle {STEPS}",
    "STANDALONE": (
        f"{TRITON} --speculative-algorithm STANDALONE --speculative-draft-model-path standalone --page-size 4 {STEPS}"
    ),
    "DFLASH": (
        f"{TRITON} --speculative-algorithm DFLASH --speculative-draft-model-path dflash "
        "--speculative-num-draft-tokens 8"
    ),
}
ROLES = {
    "NGRAM": ["target_verify"],
    "EAGLE": ["target_verify", "draft", "draft_extend"],
    "STANDALONE": ["target_verify", "draft", "draft_extend"],
    "DFLASH": ["target_verify", "draft"],
}


@pytest.fixture(scope="module", params=LAUNCHES)
def served(request):
    case = case_of(Group(LAUNCHES[request.param]))
    behaviours = behave_each(case.facts.launch, case.settings, {"": (ROUNDS,)}, deadline=600)[""]
    return request.param, case, behaviours


def test_every_role_of_the_algorithm_is_seen_and_hits_its_graph(served):
    name, _, behaviours = served
    assert [seen.role for seen in behaviours] == ROLES[name]
    assert [seen.unknown for seen in behaviours] == [""] * len(behaviours)
    for draft in behaviours[1:]:
        assert [one.bs for one in draft.passes] == [3, 3, 2, 1]
        assert [one.captured_bs for one in draft.passes] == [4, 4, 2, 1]
        assert all(one.hit and one.replay.agrees(draft.dtype) for one in draft.passes)
        assert draft.launches


def test_the_engine_keeps_what_the_walk_accepts_and_frees_the_rest(served):
    name, _, (target, *_) = served
    assert len(target.acceptances) == 12
    for one in target.acceptances:
        assert one.kept_slots in (None, one.accepted)
        assert one.kept_hidden in (None, one.accepted)
        assert one.freed_slots == one.expected_freed
    assert sum(one.kept_slots is None for one in target.acceptances) == 3
    assert any(one.kept_hidden for one in target.acceptances) == (name == "EAGLE")


def test_paths_that_are_not_the_first_rows_are_accepted_where_a_tree_is_drafted(served):
    name, _, (target, *_) = served
    assert any(one.accepted != tuple(range(len(one.accepted))) for one in target.acceptances) == (name != "DFLASH")
    assert {len(one.accepted) for one in target.acceptances} >= ({1} if name == "DFLASH" else {1, 2, 3})


def test_no_behaviour_rule_finds_anything(served):
    _, case, behaviours = served
    seen = replace(case, ledger=Ledger(algorithm=behaviours[0].algorithm, behaviours=behaviours))
    behaviour = [rule for rule in rules() if rule.tier == "replay-cpu" and not issubclass(rule, Whole)]
    outcomes = judge(seen, behaviour, "replay-cpu")
    assert {one.check.code: one.reason for one in outcomes if one.status != "passed"} == {}
