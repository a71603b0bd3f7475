"""Which algorithm a launch speculates with, and what its own rules make of the launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ddtree_doctor.contract.block_drafts import ddtree, dflash, dspark
from ddtree_doctor.contract.checkpoint import MTP_ASSISTANTS, names
from ddtree_doctor.contract.given import Given
from ddtree_doctor.contract.speculation_model import FIELDS, Speculation
from ddtree_doctor.contract.step_drafts import eagle, ngram, uno
from ddtree_doctor.contract.values import derived, settle, unknown, unset
from ddtree_doctor.facts.model import ModelConfig
from ddtree_doctor.knowledge import Value

__all__ = ["RULES", "speculation"]


def _none(given: Given, plain: Speculation) -> Speculation:
    """Without speculation no speculative flag has an effect."""
    unsets: dict[str, Value[int]] = {name: unset(name, "the launch does not speculate") for name in FIELDS}
    return replace(plain, **unsets)  # type: ignore[arg-type]


RULES: Mapping[str, Callable[[Given, Speculation], Speculation]] = {
    "NONE": _none,
    "EAGLE": eagle,
    "EAGLE3": eagle,
    "STANDALONE": eagle,
    "NGRAM": ngram,
    "UNO": uno,
    "DFLASH": dflash,
    "DSPARK": dspark,
    "DDTREE": ddtree,
}
"""Algorithms with rules of their own; FROZEN_KV_MTP and plugins take what the launch gives."""


def speculation(given: Given) -> Speculation:
    """Resolve the speculative settings of a launch."""
    algorithm = settle("algorithm", lambda: _algorithm(given))
    if not algorithm.known:
        return _unknown(algorithm)
    plain = Speculation(
        algorithm=algorithm,
        multi_layer=Value(name="multi_layer", value=False, origin="default"),
        num_draft_tokens=replace(given.integer("speculative_num_draft_tokens"), name="num_draft_tokens"),
        num_steps=replace(given.integer("speculative_num_steps", least=0), name="num_steps"),
        topk=replace(given.integer("speculative_eagle_topk"), name="topk"),
        block_size=unset("block_size", f"{algorithm.value} drafts no block"),
        budget=unset("budget", f"{algorithm.value} has no tree budget"),
    )
    rule = RULES.get(algorithm.need())
    return rule(given, plain) if rule else plain


def _unknown(algorithm: Value[str]) -> Speculation:
    why = f"the algorithm is not known: {algorithm.why}"
    fields: dict[str, Value[int]] = {name: unknown(name, why) for name in FIELDS}
    return Speculation(algorithm=algorithm, multi_layer=unknown("multi_layer", why), **fields)


def _algorithm(given: Given) -> Value[str]:
    word = replace(given.text("speculative_algorithm"), name="algorithm")
    if not word.known:
        return word
    if word.value is None or word.value.upper() == "NONE":
        return Value(name="algorithm", value="NONE", origin="default", why="the launch names no speculative algorithm")
    if given.switch("enable_return_aux_hidden_states").value:
        return derived("algorithm", "NONE", "--enable-return-aux-hidden-states only names a capture convention by it")
    name = word.value.upper()
    if name in ("EAGLE", "NEXTN") and _is_assistant(given.facts.draft):
        return derived("algorithm", "FROZEN_KV_MTP", f"{word.why} with a Gemma 4 assistant as draft")
    if name == "NEXTN":
        return derived("algorithm", "EAGLE", "NEXTN is another name of EAGLE")
    return replace(word, value=name)


def _is_assistant(draft: ModelConfig | None) -> bool:
    return any(name in MTP_ASSISTANTS for name in names(draft, "architectures"))
