"""Runs of a whole engine: what each is asked, what an end is called. One start of the real engine is at the end."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from ddtree_doctor.contract.settings import resolve
from ddtree_doctor.engine.mutants import mutant_file
from ddtree_doctor.engine.whole.job import EngineJob, engine_jobs
from ddtree_doctor.errors import UsageError
from ddtree_doctor.probe import whole_engine
from ddtree_doctor.probe.process import Limits, Outcome, module, run
from ddtree_doctor.probe.whole_engine import compare, engine_run, last_error
from ddtree_doctor.replay.engine_run import EngineRun, agreement, allowed
from tests.strategies import facts

TREE = ("--speculative-num-steps", "3", "--speculative-eagle-topk", "4", "--speculative-num-draft-tokens", "17")
STANDALONE = ("--speculative-algorithm", "STANDALONE", "--speculative-draft-model-path", "draft", *TREE)
DDTREE = ("--speculative-algorithm", "DDTREE", "--speculative-draft-model-path", "draft")
MUTANT = "accepted_slots_taken_as_first"
CHILD = "ddtree_doctor.engine.whole.child"


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[EngineJob]]:
    """Lets each process end as given, and returns what it was asked."""

    def set_up(outcome: Outcome) -> list[Any]:
        asked: list[Any] = []

        def answer(argv: list[str], job: Any, **_: Any) -> Outcome:
            asked.append(job)
            return outcome

        monkeypatch.setattr(whole_engine, "run", answer)
        return asked

    return set_up


def runs(*words: str, **options: Any) -> tuple[EngineRun, ...]:
    one = facts(*words)
    return compare(one.launch, resolve(one), host="cpu", **options)


def test_an_engine_that_was_killed_says_the_last_error_that_it_printed(ended):
    log = "Traceback (most recent call last):\nValueError: first\nRuntimeError: no kernel\n\nReceived sigquit\n"
    ended(Outcome(kind="killed", why="killed by SIGKILL", log=log))
    assert {one.unknown for one in runs()} == {"RuntimeError: no kernel"}


@pytest.mark.parametrize(
    ("outcome", "says"),
    [
        (Outcome(kind="killed", why="killed by SIGKILL", log="Killed"), "killed by SIGKILL (last line: Killed)"),
        (Outcome(kind="timeout", why="timed out after 9 s", log="x"), "timed out after 9 s"),
        (
            Outcome(kind="failed", why="Rank 0 scheduler died", log="ImportError: no cutlass\n"),
            "Rank 0 scheduler died; ImportError: no cutlass",
        ),
        (Outcome(kind="failed", why="ValueError: bad", log="ValueError: bad\n"), "ValueError: bad"),
        (Outcome(kind="ok", answer={"host": 3}), "the probe's answer is no run"),
    ],
)
def test_every_end_has_a_name(ended, outcome, says):
    ended(outcome)
    first = runs()[0]
    assert first.unknown.startswith(says)
    assert (first.host, first.algorithm, first.texts) == ("cpu", "NONE", ())


@pytest.mark.parametrize("log", ["", "all is well\n", "UserWarning: old\n", "  ValueError: indented, so quoted\n"])
def test_a_log_without_an_error_names_none(log):
    assert last_error(log) == ""


def test_a_kernel_that_does_not_fit_is_an_error_too():
    assert last_error("x\ntriton.runtime.errors.OutOfResources: out of resource: shared memory\n").startswith("triton.")


def test_an_error_without_a_text_is_one_too():
    assert last_error("Traceback\n  assert x\nAssertionError\n\nbye") == "AssertionError"


def test_a_plugin_has_no_way_through_the_scheduler_and_that_is_said_without_a_start(ended):
    asked = ended(Outcome(kind="failed", why="x"))
    found = runs(*DDTREE, plugin="ddtree")
    assert len(asked) == 3
    assert [("plugin ddtree" in one.unknown, one.speculation) for one in found[3:]] == [(True, True)] * 2


def test_a_mutant_that_does_not_exist_is_a_usage_error():
    with pytest.raises(UsageError, match="no such mutant"):
        runs(mutant="no_such")


@pytest.fixture(scope="module")
def said() -> dict[str, EngineRun]:
    """STANDALONE eager: without speculation twice, with it, and with it under a mutant; two engines side by side."""
    one = facts(*STANDALONE, "--disable-cuda-graph")
    first, again, clean = engine_jobs(one.launch, resolve(one), host="cpu", tokens=6)
    planted = replace(clean, start={**clean.start, "mutant": mutant_file(MUTANT)})
    jobs = {"first": first, "again": again, "clean": clean, "planted": planted}
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(jobs, pool.map(lambda job: engine_run(job, 280.0), jobs.values()), strict=True))


@pytest.mark.engine
@pytest.mark.slow
def test_two_equal_runs_say_the_same_and_rounding_explains_next_to_nothing(said):
    assert {name: one.doubt for name, one in said.items()} == dict.fromkeys(said, "")
    assert [len(text.tokens) for text in said["first"].texts] == [6, 6, 6]
    assert agreement(said["first"], said["again"]) == "same"
    assert 0 < allowed(said["first"]) < 1e-3


@pytest.mark.engine
@pytest.mark.slow
def test_with_speculation_more_than_one_token_a_pass_is_accepted_and_the_text_is_the_same(said):
    assert agreement(said["first"], said["clean"]) == "same"
    assert said["first"].accept_length is None
    assert said["clean"].accept_length > 1


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.mutant
def test_rows_kept_wrongly_change_what_is_said(said):
    assert agreement(said["first"], said["planted"]) == "differs"


@pytest.mark.engine
@pytest.mark.slow
def test_nothing_of_an_engine_survives_its_deadline():
    one = facts()
    job = engine_jobs(one.launch, resolve(one), host="cpu", tokens=2)[0]
    mark = f"DDTREE_DOCTOR_MARK={uuid.uuid4()}"
    name, _, value = mark.partition("=")
    most, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.2):
            most[0] = max(most[0], sum(1 for _ in marked(mark)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        outcome = run(module(CHILD), asdict(job), limits=Limits(deadline=16.0), env={name: value})
    finally:
        done.set()
        watcher.join()
    assert outcome.kind == "timeout"
    assert most[0] > 1, "the engine had no processes of its own yet"
    assert list(marked(mark)) == []


def marked(mark: str) -> Iterator[int]:
    """The processes whose environment holds `mark`."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes():
                yield int(path.parent.name)
        except OSError:
            continue
