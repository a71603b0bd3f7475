"""What one replay process is to do, as plain data. Imports no engine."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ddtree_doctor.contract.model import Settings
from ddtree_doctor.engine.job import Job, job
from ddtree_doctor.launch.model import Launch

__all__ = ["ReplayJob", "capture_fields", "replay_job", "replayed_options", "sized", "without_speculation"]

CPU_SIZES = (1, 2, 4)
"""Captured batch sizes on the CPU: 3 lies between two of them, so that padding occurs."""

SHORT_CONTEXT = 96
RUNNING = 20

REPLAYED = frozenset(
    """
    speculative_algorithm speculative_num_steps speculative_eagle_topk speculative_num_draft_tokens
    speculative_dflash_block_size speculative_dspark_block_size speculative_draft_window_size
    speculative_draft_sink_size speculative_ngram_max_bfs_breadth speculative_ngram_min_bfs_breadth
    speculative_ngram_max_trie_depth enable_multi_layer_eagle page_size
    """.split()
)
"""The engine's fields that decide what a verify pass computes; ranks and capture settings are the probe's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayJob:
    """A start and the scenarios to run on it.

    `sizes` are the captured batch sizes. `only` are prefixes of scenario names, all scenarios if empty. `scenarios` are
    given ones as JSON (`Scenario.to_json`), which replace the catalogue. `oracle` are prefixes of the scenarios whose
    tree rows are held against their paths. `served` asks for requests served on the
    worker too: draft graphs, accepted paths.
    """

    start: dict[str, Any]
    host: str = "cpu"
    sizes: tuple[int, ...] = CPU_SIZES
    seed: int = 0
    only: tuple[str, ...] = ()
    scenarios: tuple[Any, ...] = ()
    oracle: tuple[str, ...] = ("tree/",)
    responses: bool = True
    served: bool = True


def replay_job(launch: Launch, settings: Settings, *, plugin: str = "", mutant: str = "") -> Job:
    """The start whose verify passes stand for the launch's: its widths, page size and algorithm, on one rank."""
    whole = job(launch, settings, plugin=plugin, mutant=mutant)
    page = settings.page_size.value or 1
    return replace(
        whole,
        options=replayed_options(launch),
        fixed={**capture_fields(CPU_SIZES), "max_running_requests": RUNNING},
        tp=1,
        context=_context(settings, page),
        lean=True,
    )


def replayed_options(launch: Launch, names: Collection[str] = REPLAYED) -> tuple[str, ...]:
    """The launch's options that set the fields `names`, as they were given."""
    kept = (flag for flag in launch.flags if flag.name in names and not flag.unknown)
    return tuple(word for flag in kept for word in (flag.option, *flag.values))


def capture_fields(sizes: Sequence[int]) -> dict[str, list[int]]:
    """The engine's fields, newest name first, that say for which batch sizes graphs are captured."""
    return {"cuda_graph_bs_decode": list(sizes), "cuda_graph_bs": list(sizes)}


def sized(start: Job, sizes: Sequence[int]) -> Job:
    """The same start with these captured batch sizes."""
    return replace(start, fixed={**start.fixed, **capture_fields(sizes)})


def without_speculation(start: Job, launch: Launch) -> Job:
    """The start of `launch` without a draft, on the same target. Its `algorithm` stays, for what goes by it."""
    plain = {name for name in REPLAYED if not name.startswith("speculative_")} - {"enable_multi_layer_eagle"}
    return replace(
        start,
        options=replayed_options(launch, plain),
        fixed={**start.fixed, "speculative_draft_model_path": None, "uno_lora_path": None},
        plugin="",
        values={},
    )


def _context(settings: Settings, page: int) -> int:
    """Room for the widest tree behind two pages, in whole pages: prefixes are computed by the interpreter."""
    widest = max(settings.num_draft_tokens.value or 1, (settings.budget.value or 0) + 1)
    return -(-(max(SHORT_CONTEXT, 2 * page + 2) + widest) // page) * page
