"""The sizes of a deployment that an error message may be about, as far as its log tells them."""

from __future__ import annotations

from dataclasses import dataclass

from ddtree_doctor.triage.setup import Setup

__all__ = ["BLOCK_ALGORITHMS", "Known", "known_of"]

BLOCK_ALGORITHMS = ("DFLASH", "DFLASH2", "DDTREE", "DSPARK")
"""Algorithms that draft one block at a time; their block size is the number of draft tokens unless given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """None, () or "" where the log does not tell.

    `graph_max` is the largest captured batch, `graph_sizes` all of them, `running` the last reported running batches,
    `budget` DDTree nodes without the root, `width` tokens per request that verify was captured for, `token_sizes`
    captured sizes in tokens (vLLM).
    """

    algorithm: str = ""
    block: int | None = None
    checkpoint_block: int | None = None
    budget: int | None = None
    draft_tokens: int | None = None
    steps: int | None = None
    topk: int | None = None
    width: int | None = None
    graph_max: int | None = None
    graph_sizes: tuple[int, ...] = ()
    token_sizes: tuple[int, ...] = ()
    running: tuple[int, ...] = ()
    max_running: int | None = None
    context: int | None = None
    vocab: int | None = None
    draft_vocab: int | None = None
    hidden: int | None = None
    draft_hidden: int | None = None

    @property
    def verify(self) -> int | None:
        """Tokens per request of target verify as the algorithm defines it."""
        if self.budget is not None:
            return self.budget + 1
        return self.draft_tokens


def known_of(setup: Setup, running: tuple[int, ...]) -> Known:
    """The sizes in `setup`; `running` are the batches that ran when the fault came."""
    algorithm = setup.text("speculative_algorithm").upper()
    drafted = setup.number("num_speculative_tokens")
    tokens = setup.number("speculative_num_draft_tokens", "num_draft_tokens")
    tokens = drafted + 1 if tokens is None and drafted is not None else tokens
    block = setup.number(
        "speculative_ddtree_block_size", "speculative_dflash_block_size", "speculative_dspark_block_size"
    )
    if block is None and setup.engine != "vllm":  # vLLM calls the pages of its cache blocks
        block = setup.number("block_size", "draft_block_size")
    sizes = setup.numbers("capture_bs", "cuda_graph_bs")
    return Known(
        algorithm=algorithm,
        block=block or (tokens if algorithm in BLOCK_ALGORITHMS else None),
        checkpoint_block=setup.number("draft_config_block_size"),
        budget=setup.number("speculative_ddtree_budget", "speculative_dflash_tree_budget", "ddtree_budget", "budget"),
        draft_tokens=tokens,
        steps=setup.number("speculative_num_steps", "num_steps"),
        topk=setup.number("speculative_eagle_topk", "topk"),
        width=setup.number("captured_width"),
        graph_max=max(sizes) if sizes else setup.number("cuda_graph_max_bs"),
        graph_sizes=sizes,
        token_sizes=setup.numbers("cudagraph_capture_sizes", "compilation_config.cudagraph_capture_sizes"),
        running=running,
        max_running=setup.number("max_running_requests", "max_num_seqs"),
        context=setup.number("context_len", "context_length"),
        vocab=setup.number("vocab_size"),
        draft_vocab=setup.number("draft_vocab_size"),
        hidden=setup.number("hidden_size"),
        draft_hidden=setup.number("draft_hidden_size"),
    )
