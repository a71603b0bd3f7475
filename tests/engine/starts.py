"""Starts of the real engine that many tests look at: each is done once, when the first test asks for it."""

from __future__ import annotations

from functools import cache

from ddtree_doctor.engine.job import Job
from ddtree_doctor.ledger import Ledger
from ddtree_doctor.probe.shape import observe_job

__all__ = ["STARTS", "WIDTHS", "ledger"]

DEADLINE = 280.0
TREE = ("--speculative-num-steps", "3", "--speculative-eagle-topk", "4", "--speculative-num-draft-tokens", "17")
CHAIN = ("--speculative-num-steps", "3", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "4")
FEW = ("--max-running-requests", "8", "--cuda-graph-max-bs-decode", "4")
BUDGET = {"speculative_ddtree_budget": "32"}


def _speculating(algorithm: str, *options: str) -> tuple[str, ...]:
    return ("--speculative-algorithm", algorithm, *options, *FEW)


DDTREE = _speculating("DDTREE", "--speculative-num-draft-tokens", "8")

STARTS: dict[str, Job] = {
    "NONE": Job(algorithm="NONE", options=FEW),
    "NGRAM": Job(algorithm="NGRAM", options=_speculating("NGRAM", "--speculative-num-draft-tokens", "33")),
    "EAGLE": Job(algorithm="EAGLE", options=_speculating("EAGLE", *TREE)),
    "EAGLE3": Job(algorithm="EAGLE3", options=_speculating("EAGLE3", *TREE)),
    "STANDALONE": Job(algorithm="STANDALONE", options=_speculating("STANDALONE", *TREE)),
    "DFLASH": Job(algorithm="DFLASH", block=6, options=_speculating("DFLASH")),
    "DSPARK": Job(algorithm="DSPARK", options=_speculating("DSPARK")),
    "UNO tree": Job(
        algorithm="UNO",
        options=_speculating(
            "UNO",
            "--speculative-num-steps",
            "3",
            "--speculative-eagle-topk",
            "4",
            "--speculative-num-draft-tokens",
            "8",
        ),
    ),
    "UNO chain": Job(algorithm="UNO", options=_speculating("UNO", "--speculative-num-draft-tokens", "5")),
    "FROZEN_KV_MTP": Job(algorithm="FROZEN_KV_MTP", options=_speculating("FROZEN_KV_MTP", *CHAIN)),
    "MULTI_LAYER_EAGLE": Job(
        algorithm="EAGLE",
        multi_layer=True,
        steps=3,
        options=_speculating("EAGLE", "--enable-multi-layer-eagle", *CHAIN),
    ),
    "DDTREE": Job(algorithm="DDTREE", plugin="ddtree", values=BUDGET, options=DDTREE),
    "DDTREE by block": Job(algorithm="DDTREE", plugin="ddtree-width-from-block", values=BUDGET, options=DDTREE),
    "DDTREE on 8 ranks that gather": Job(
        algorithm="DDTREE",
        plugin="ddtree",
        values=BUDGET,
        tp=8,
        attn_tp=8,
        expert_gather=True,
        options=(
            *("--speculative-algorithm", "DDTREE", "--speculative-num-draft-tokens", "8"),
            *("--tp-size", "8", "--moe-a2a-backend", "deepep"),
            *("--max-running-requests", "24", "--cuda-graph-max-bs-decode", "24"),
        ),
    ),
    "EAGLE on 8 ranks, attention on 2 of 4": Job(
        algorithm="EAGLE",
        tp=8,
        attn_tp=2,
        draft_forwards=0,
        options=(
            *("--speculative-algorithm", "EAGLE", *CHAIN, "--tp-size", "8", "--dp-size", "4", "--enable-dp-attention"),
            *("--max-running-requests", "64", "--cuda-graph-max-bs-decode", "32"),
        ),
    ),
    "large": Job(
        algorithm="NGRAM",
        options=(
            *("--speculative-algorithm", "NGRAM", "--speculative-num-draft-tokens", "33"),
            *("--max-running-requests", "256", "--cuda-graph-max-bs-decode", "256"),
        ),
    ),
    "graphs off": Job(algorithm="NONE", options=("--disable-cuda-graph", *FEW)),
}

WIDTHS: dict[str, dict[str, int]] = {
    "NONE": {"decode": 1},
    "NGRAM": {"target_verify": 33},
    "EAGLE": {"target_verify": 17, "draft": 4, "draft_extend": 17},
    "EAGLE3": {"target_verify": 17, "draft": 4, "draft_extend": 17},
    "STANDALONE": {"target_verify": 17, "draft": 4, "draft_extend": 17},
    "DFLASH": {"target_verify": 6, "draft": 6},
    "DSPARK": {"target_verify": 8, "draft": 7},
    "UNO tree": {"target_verify": 8, "draft": 4},
    "UNO chain": {"target_verify": 5, "draft": 5},
    "FROZEN_KV_MTP": {"target_verify": 4, "draft": 1},
    "MULTI_LAYER_EAGLE": {"target_verify": 4, "draft_extend": 4},
    "DDTREE": {"target_verify": 33, "draft": 8},
    "DDTREE by block": {"target_verify": 8, "draft": 8},
    "DDTREE on 8 ranks that gather": {"target_verify": 33, "draft": 8},
    "EAGLE on 8 ranks, attention on 2 of 4": {"target_verify": 4, "draft": 1, "draft_extend": 4},
    "large": {"target_verify": 33},
}
"""Start → role → tokens per request, by the algorithms' definitions."""


@cache
def ledger(name: str) -> Ledger:
    """What the engine was seen to do in the start `name`."""
    return observe_job(STARTS[name], deadline=DEADLINE)
