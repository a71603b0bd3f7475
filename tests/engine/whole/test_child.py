"""What an engine's answers come down to, on an engine that says what it is told to say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ddtree_doctor.contract.settings import resolve
from ddtree_doctor.engine.whole.child import said
from ddtree_doctor.engine.whole.job import engine_jobs
from tests.strategies import facts

PROMPTS = ((11, 12, 13), (21, 22))
NEW = [[4, 5], [6, 7]]
DECODED = [[(-1.0, -2.0), (-0.5, -3.0)], [(-0.25, -4.0), (-1.5, -1.75)]]
PREFILLED = [[(-1.0, -2.0), (-0.5, -3.125)], [(-0.25, -4.0), (-1.5, -1.75)]]


class Engine:
    """Answers as SGLang's does, and notes what it was asked."""

    def __init__(self, passes: int | None = None) -> None:
        self.passes = passes
        self.asked: list[dict[str, Any]] = []
        self.flushed_before: list[int] = []

    def flush_cache(self) -> None:
        self.flushed_before.append(len(self.asked))

    def generate(self, **asked: Any) -> list[dict[str, Any]]:
        self.asked.append(asked)
        if "logprob_start_len" in asked:
            return [self._scored(prompt, best) for prompt, best in zip(PROMPTS, PREFILLED, strict=True)]
        answers = []
        for tokens, best in zip(NEW, DECODED, strict=True):
            meta: dict[str, Any] = {"completion_tokens": len(tokens)}
            if self.passes is not None:
                meta["spec_verify_ct"] = self.passes
            if asked.get("return_logprob"):
                meta["output_top_logprobs"] = list(map(_entries, best))
            answers.append({"output_ids": tokens, "meta_info": meta})
        return answers

    def _scored(self, prompt: tuple[int, ...], best: list[tuple[float, float]]) -> dict[str, Any]:
        head = [None, *(_entries((-9.0, -9.0)) for _ in prompt[1:])]
        return {"output_ids": [0], "meta_info": {"input_top_logprobs": [*head, *map(_entries, best)]}}


def _entries(pair: tuple[float, float]) -> list[tuple[float, int, None]]:
    return [(value, at, None) for at, value in enumerate(pair)]


@pytest.fixture
def job():
    one = facts()
    return replace(engine_jobs(one.launch, resolve(one), host="cpu")[0], prompts=PROMPTS, tokens=2)


def test_prompts_are_answered_greedily_to_their_full_length(job):
    engine = Engine()
    found = said(engine, job)
    assert [list(text.tokens) for text in found.texts] == NEW
    assert engine.asked[0]["input_ids"] == [[11, 12, 13], [21, 22]]
    assert engine.asked[0]["sampling_params"] == {"temperature": 0, "max_new_tokens": 2, "ignore_eos": True}


def test_the_spread_is_what_a_prefill_of_the_same_text_says_otherwise(job):
    engine = Engine()
    found = said(engine, job)
    assert found.spread == 0.125
    assert [list(text.best) for text in found.texts] == DECODED
    assert engine.asked[1]["input_ids"] == [[11, 12, 13, 4, 5], [21, 22, 6, 7]]
    assert engine.flushed_before == [1], "what is cached is not prefilled"


def test_a_run_that_is_not_to_be_scored_is_asked_for_its_tokens_alone(job):
    engine = Engine()
    found = said(engine, replace(job, scored=False))
    assert (found.spread, len(engine.asked), set(engine.asked[0])) == (None, 1, {"input_ids", "sampling_params"})


@pytest.mark.parametrize(("passes", "length"), [(None, None), (0, None), (1, 2.0), (2, 1.0)])
def test_the_accept_length_is_tokens_over_verify_passes(job, passes, length):
    assert said(Engine(passes), replace(job, scored=False)).accept_length == length
