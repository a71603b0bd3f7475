"""A reduction's process: what it is asked for, and what every end but an answer comes to."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from ddtree_doctor.engine.job import Job
from ddtree_doctor.engine.replay.job import ReplayJob
from ddtree_doctor.errors import DoctorError
from ddtree_doctor.probe import reduction
from ddtree_doctor.probe.process import Outcome
from ddtree_doctor.probe.reduction import Probes, sized
from ddtree_doctor.reduction.record import Found
from tests.report.sample import case

START = Job(algorithm="NGRAM", fixed={"max_running_requests": 20})
WHAT = ReplayJob(start={}, sizes=(1, 4), only=("tree/",))


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch):
    """How the process ends, in place of one; and the jobs that it was given."""
    jobs = []

    def end(outcome: Outcome):
        monkeypatch.setattr(reduction, "run", lambda argv, job, **_: jobs.append((argv[-1], job)) or outcome)
        return jobs

    return end


def test_an_answer_is_read_as_what_was_found(ended):
    found = Found(fired={"DD301": "differs"}, code="DD301", before=16, scenarios=({"name": "s"},), tests=4)
    jobs = ended(Outcome(kind="ok", answer=asdict(found)))
    assert Probes(case=case()).reduced(START, WHAT, code="DD301") == found
    ((module, job),) = jobs
    assert module == "ddtree_doctor.engine.replay.reduction"
    assert job["code"] == "DD301"
    assert job["replay"]["start"]["fixed"]["cuda_graph_bs_decode"] == [1, 4]


@pytest.mark.parametrize("kind", ["failed", "killed", "silence", "garbage", "timeout", "exit", "output", "spawn"])
def test_every_other_end_is_no_verdict(ended, kind):
    ended(Outcome(kind=kind, why="what happened"))
    with pytest.raises(DoctorError, match="no verdict: what happened"):
        Probes(case=case()).reduced(START, WHAT)


@pytest.mark.parametrize("answer", [[], {"tests": "many"}, {"scenarios": 3}, "text"])
def test_an_answer_that_is_none_is_no_verdict(ended, answer):
    ended(Outcome(kind="ok", answer=answer))
    with pytest.raises(DoctorError, match="no verdict: the probe's answer is none"):
        Probes(case=case()).reduced(START, WHAT)


@pytest.mark.parametrize(("code", "oracle"), [("DD302", [""]), ("DD301", [])])
def test_tree_rows_are_held_against_their_paths_only_where_that_is_the_rule(ended, code, oracle):
    jobs = ended(Outcome(kind="timeout", why="timed out"))
    seen = Probes(case=case()).seen(START, [{"name": "s"}], code=code, sizes=(2,))
    assert seen.unknown == "timed out"
    assert list(jobs[0][1]["oracle"]) == oracle


def test_captured_sizes_go_into_the_start_and_nothing_else_changes():
    assert sized(START, (1, 2)).fixed == {
        "max_running_requests": 20,
        "cuda_graph_bs_decode": [1, 2],
        "cuda_graph_bs": [1, 2],
    }
