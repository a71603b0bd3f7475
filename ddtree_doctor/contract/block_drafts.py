"""Algorithms that draft a block in one forward: DFLASH, DSPARK, DDTREE.

DFLASH and DSPARK as SGLang resolves them (`_handle_dflash`, `_handle_dspark` in `arg_groups/speculative_hook.py`),
DDTREE from its reference (https://github.com/liranringel/ddtree) and its SGLang forks.
"""

from __future__ import annotations

from dataclasses import replace

from ddtree_doctor.contract.checkpoint import block_size, draft_or_missing
from ddtree_doctor.contract.given import Given
from ddtree_doctor.contract.speculation_model import Speculation
from ddtree_doctor.contract.values import derived, forced, settle, unknown
from ddtree_doctor.facts.model import ModelConfig
from ddtree_doctor.knowledge import Value

__all__ = ["BUDGET_READINGS", "DEFAULT_BLOCK", "DEFAULT_GAMMA", "RESHAPES_DFLASH", "ddtree", "dflash", "dspark"]

DEFAULT_BLOCK = 16
"""Block size of DFLASH where neither launch nor checkpoint states one."""

DEFAULT_GAMMA = 7
"""Drafted tokens of DSPARK where neither launch nor checkpoint states them."""

BUDGET_READINGS = {
    "speculative_ddtree_budget": (
        0,
        "counts nodes without the root, as the reference does (also sgl-project/sglang pull requests 27509 and 29907)",
    ),
    "speculative_dflash_tree_budget": (1, "counts the root, as sgl-project/sglang pull request 29587 does"),
}
"""Field → (what it counts beyond the drafted nodes, how that is known): the fork that names the flag fixes it."""

RESHAPES_DFLASH = (
    "speculative_dflash_tree_width",
    "speculative_dflash_tree_verify",
    "speculative_dflash_tree_budget",
    "speculative_dflash_verify_budget",
)
"""Flags of forks that give DFLASH a verify width other than its block size."""


def dflash(given: Given, plain: Speculation) -> Speculation:
    """DFLASH verifies what it drafts: draft tokens are the block, its first token the last accepted one."""
    block = settle("block_size", lambda: _block(given, plain, "speculative_dflash_block_size"))
    tokens: Value[int] = replace(block, name="num_draft_tokens")
    reshaped = given.flag(*RESHAPES_DFLASH)
    if reshaped is not None:
        tokens = unknown("num_draft_tokens", f"{reshaped.option} gives DFLASH another verify width in this fork")
    return _one_forward(replace(plain, block_size=block, num_draft_tokens=tokens))


def ddtree(given: Given, plain: Speculation) -> Speculation:
    """DDTREE drafts a DFLASH block and verifies a tree of `budget` nodes and the root."""
    flags = ("speculative_ddtree_block_size", "speculative_dflash_block_size")
    block = settle("block_size", lambda: _block(given, plain, *flags))
    budget = settle("budget", lambda: _budget(given, block))
    tokens = replace(block, name="num_draft_tokens")
    return _one_forward(replace(plain, block_size=block, num_draft_tokens=tokens, budget=budget))


def dspark(given: Given, plain: Speculation) -> Speculation:
    """DSPARK verifies its `block_size` drafted tokens and the last accepted one."""
    gamma = settle("block_size", lambda: _gamma(given, plain))
    tokens = plain.num_draft_tokens
    if tokens.known and tokens.value is None:
        tokens = settle("num_draft_tokens", lambda: derived("num_draft_tokens", gamma.need() + 1, "drafted tokens + 1"))
    return _one_forward(replace(plain, block_size=gamma, num_draft_tokens=tokens))


def _one_forward(found: Speculation) -> Speculation:
    why = f"{found.algorithm.value} drafts in one forward"
    return replace(found, num_steps=forced("num_steps", 1, why), topk=forced("topk", 1, why))


def _block(given: Given, plain: Speculation, *flags: str) -> Value[int]:
    """From a flag, else the number of draft tokens, else the checkpoint, else 16."""
    for value in (given.integer(*flags), plain.num_draft_tokens):
        if not value.known or value.value is not None:
            return replace(value, name="block_size")
    found = block_size(draft_or_missing(given.facts))
    if found is None:
        why = "neither the launch nor the draft's config.json states one"
        return Value(name="block_size", value=DEFAULT_BLOCK, origin="default", why=why)
    return Value(name="block_size", value=found, origin="config", why="block_size of the draft's config.json")


def _budget(given: Given, block: Value[int]) -> Value[int]:
    for field, (beyond, reading) in BUDGET_READINGS.items():
        value = given.integer(field)
        if not value.known:
            return replace(value, name="budget")
        if value.value is not None:
            return replace(value, name="budget", value=value.value - beyond, why=f"{value.why}: {reading}")
    why = "block size - 1, the reference's default; it counts nodes without the root"
    return Value(name="budget", value=block.need() - 1, origin="default", why=why)


def _gamma(given: Given, plain: Speculation) -> Value[int]:
    flag = given.integer("speculative_dspark_block_size")
    if not flag.known or flag.value is not None:
        return replace(flag, name="block_size")
    tokens = plain.num_draft_tokens
    if tokens.value is not None:
        return derived("block_size", tokens.value - 1, f"{tokens.why} is drafted tokens + 1")
    found = block_size(_dspark_checkpoint(given))
    if found is None:
        why = "neither the launch nor a config.json states it"
        return Value(name="block_size", value=DEFAULT_GAMMA, origin="default", why=why)
    return Value(name="block_size", value=found, origin="config", why="block size in the draft's config.json")


def _dspark_checkpoint(given: Given) -> ModelConfig:
    """A target may bundle its DSPARK draft."""
    return given.facts.target if given.facts.draft is None else given.facts.draft
