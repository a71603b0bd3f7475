"""Runs of a whole engine as plain data: which there are, and in what they differ."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from dacite import Config, from_dict
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.contract.settings import resolve
from ddtree_doctor.engine.whole.job import EngineJob, engine_jobs, prompts
from tests.strategies import facts

NGRAM = ("--speculative-algorithm", "NGRAM", "--speculative-num-draft-tokens", "17")
DFLASH = ("--speculative-algorithm", "DFLASH", "--speculative-draft-model-path", "draft")


def jobs(*words: str, host: str = "cpu", **options: str) -> tuple[EngineJob, ...]:
    one = facts(*words)
    return engine_jobs(one.launch, resolve(one), host=host, **options)


def modes(found: tuple[EngineJob, ...]) -> list[tuple[bool, bool, int]]:
    return [(one.speculation, one.graphs, one.number) for one in found]


@pytest.mark.parametrize("host", ["cpu", "gpu"])
def test_speculation_is_off_twice_and_graphs_are_off_and_on(host):
    off = [(False, False, 1), (False, False, 2), (False, True, 1)]
    assert modes(jobs(*NGRAM, host=host)) == [*off, (True, False, 1), (True, True, 1)]
    assert modes(jobs(host=host)) == off


def test_a_launch_with_graphs_off_has_none_in_any_run():
    assert modes(jobs(*NGRAM, "--disable-cuda-graph")) == [(False, False, 1), (False, False, 2), (True, False, 1)]


def test_without_speculation_nothing_of_it_reaches_the_engine():
    for one in jobs(*DFLASH)[:3]:
        assert not [word for word in one.start["options"] if "speculative" in word]
        assert one.start["fixed"]["speculative_draft_model_path"] is None
        assert one.start["algorithm"] == "DFLASH", "the target is the one that the drafts fit"


def test_graphs_are_what_the_engine_is_told():
    told = [one.start["fixed"]["disable_cuda_graph"] for one in jobs(*NGRAM)]
    assert told == [not one.graphs for one in jobs(*NGRAM)]


def test_equal_runs_differ_in_their_number_alone():
    first, again = (asdict(one) for one in jobs(*NGRAM)[:2])
    assert {key for key in first if first[key] != again[key]} == {"number"}


def test_a_mutant_is_never_in_a_run_that_is_trusted():
    assert [bool(one.start["mutant"]) for one in jobs(*NGRAM, mutant="m.py")] == [False, False, False, True, True]
    assert [bool(one.start["mutant"]) for one in jobs(mutant="m.py")] == [False, False, True]


@pytest.mark.parametrize(
    ("words", "host", "dtype"),
    [(NGRAM, "gpu", "float16"), (NGRAM, "cpu", "float32"), (DFLASH, "gpu", "bfloat16"), (DFLASH, "cpu", "bfloat16")],
)
def test_all_runs_have_the_finest_dtype_that_engine_and_draft_take(words, host, dtype):
    assert {one.start["fixed"]["dtype"] for one in jobs(*words, host=host)} == {dtype}


def test_a_run_that_said_nothing_yet_is_named_by_what_it_is():
    blank = jobs(*NGRAM)[4].blank()
    assert (blank.subject, blank.host, blank.backend, blank.dtype) == ("NGRAM with graphs", "cpu", "triton", "float32")


def test_a_job_survives_the_way_to_its_process():
    for one in jobs(*DFLASH):
        assert from_dict(EngineJob, asdict(one), Config(cast=[tuple])) == one


@given(st.lists(st.integers(1, 60), min_size=1, max_size=4))
def test_prompts_have_their_lengths_and_no_two_begin_alike(lengths):
    made = prompts(lengths)
    assert [len(one) for one in made] == lengths
    assert len({one[0] for one in made}) == len(made)
    assert all(10 <= token < 256 for one in made for token in one)
