"""Algorithms that draft step by step, or look up: EAGLE, EAGLE3, STANDALONE, NGRAM, UNO.

Read from the rules by which SGLang resolves its arguments (`_handle_eagle_family`, `_handle_ngram`, `_handle_uno` in
`arg_groups/speculative_hook.py` from 0.5.20, `_handle_speculative_decoding` in `server_args.py` before).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ddtree_doctor.contract.checkpoint import architecture
from ddtree_doctor.contract.given import Given
from ddtree_doctor.contract.speculation_model import Speculation
from ddtree_doctor.contract.values import derived, forced, settle, unknown
from ddtree_doctor.knowledge import NotKnown, Value

__all__ = ["AUTO", "AUTO_OTHERS", "MULTI_LAYER_TARGETS", "NGRAM_BREADTH", "NGRAM_TOKENS", "eagle", "ngram", "uno"]

NGRAM_TOKENS = 12
"""Draft tokens of NGRAM where the launch gives none."""

NGRAM_BREADTH = 10
"""Breadth of NGRAM's search where neither launch nor engine states one."""

AUTO = {"LlamaForCausalLM": (5, 4, 8), "Grok1ForCausalLM": (5, 4, 8), "Grok1VForCausalLM": (5, 4, 8)}
"""(steps, topk, draft tokens) that EAGLE takes by target architecture where the launch gives none; else AUTO_OTHERS."""

AUTO_OTHERS = (3, 1, 4)
AUTO_FIELDS = ("num_steps", "topk", "num_draft_tokens")

MULTI_LAYER_TARGETS = (
    "MiMoV2ForCausalLM",
    "MiMoV2FlashForCausalLM",
    "Step3p5ForCausalLM",
    "Step3p7ForConditionalGeneration",
    "GigaChat35ForCausalLM",
)
"""Targets for which SGLang switches multi-layer EAGLE on by itself."""


def eagle(given: Given, plain: Speculation) -> Speculation:
    """EAGLE, EAGLE3 and STANDALONE: a chain's length follows from its steps; nothing given means a choice by target."""
    plain = replace(plain, multi_layer=settle("multi_layer", lambda: _multi_layer(given)))
    if given.switch("speculative_adaptive").value:
        return _adaptive(plain)
    if all(value.known and value.value is None for value in (plain.num_steps, plain.topk, plain.num_draft_tokens)):
        return _auto(given, plain)
    return replace(plain, num_draft_tokens=settle("num_draft_tokens", lambda: _chain(plain)))


def _multi_layer(given: Given) -> Value[bool]:
    switch = replace(given.switch("enable_multi_layer_eagle"), name="multi_layer")
    engine_has_it = given.facts.engine.option("enable_multi_layer_eagle") is not None
    if switch.origin == "given" or not engine_has_it or given.text("speculative_algorithm").value != "EAGLE":
        return switch  # the engine looks for the word EAGLE before it knows that NEXTN or eagle mean the same
    target = architecture(given.facts.target)
    if target in MULTI_LAYER_TARGETS:
        return forced("multi_layer", True, f"EAGLE on {target} runs multi-layer")
    return switch


def _adaptive(plain: Speculation) -> Speculation:
    why = "adaptive speculation captures graphs for several numbers of steps"
    return replace(
        plain,
        num_steps=unknown("num_steps", why),
        num_draft_tokens=unknown("num_draft_tokens", why),
        topk=forced("topk", 1, "adaptive speculation drafts a chain"),
    )


def _auto(given: Given, plain: Speculation) -> Speculation:
    def chosen(name: str) -> Value[int]:
        if plain.algorithm.value == "STANDALONE":
            who, numbers = "STANDALONE", AUTO_OTHERS
        else:
            who = architecture(given.facts.target)
            numbers = AUTO.get(who, AUTO_OTHERS)
        return derived(name, numbers[AUTO_FIELDS.index(name)], f"what {who} takes where the launch gives none")

    steps, topk, tokens = (settle(name, partial(chosen, name)) for name in AUTO_FIELDS)
    return replace(plain, num_steps=steps, topk=topk, num_draft_tokens=tokens)


def _chain(plain: Speculation) -> Value[int]:
    told = plain.num_draft_tokens
    if not plain.topk.known:
        raise NotKnown("topk", plain.topk.why)
    if plain.topk.value != 1:
        return told
    tokens = plain.num_steps.need() + 1
    if told.value == tokens:
        return told
    overruled = f"; {told.why} is overruled" if told.value is not None else ""
    return forced("num_draft_tokens", tokens, f"with topk 1 it is steps + 1{overruled}")


def ngram(given: Given, plain: Speculation) -> Speculation:
    """NGRAM: topk is the breadth of its search."""
    breadth = replace(given.integer("speculative_ngram_max_bfs_breadth", default=NGRAM_BREADTH), name="topk")
    tokens = plain.num_draft_tokens
    if tokens.known and tokens.value is None:
        why = "what NGRAM takes where the launch gives none"
        tokens = Value(name="num_draft_tokens", value=NGRAM_TOKENS, origin="default", why=why)
    steps = plain.num_steps
    if steps.known and steps.value is None:
        steps = settle("num_steps", lambda: _ngram_steps(tokens, breadth))
    return replace(plain, topk=breadth, num_draft_tokens=tokens, num_steps=steps)


def _ngram_steps(tokens: Value[int], breadth: Value[int]) -> Value[int]:
    steps = tokens.need() // max(1, breadth.need())
    return derived("num_steps", steps, "draft tokens divided by the breadth of the search")


def uno(given: Given, plain: Speculation) -> Speculation:
    """UNO: without a tree (topk 1) it drafts in one forward."""
    if not plain.topk.known or (plain.topk.value or 1) > 1:
        return plain
    why = "UNO without a tree drafts in one forward"
    return replace(plain, topk=forced("topk", 1, why), num_steps=forced("num_steps", 1, why))
