"""What scenarios are made for, read from a started target, and which of them a job asks for."""

from __future__ import annotations

from typing import Any

from ddtree_doctor.engine import seams
from ddtree_doctor.engine.replay.job import ReplayJob
from ddtree_doctor.replay.catalogue import Ground, catalogue
from ddtree_doctor.replay.scenario import Scenario
from ddtree_doctor.replay.shapes import CHAINS, TREES

__all__ = ["LINEAR", "UNDRIVEN", "chosen", "ground_of", "undriven"]

LINEAR = frozenset({"DFLASH", "DSPARK"})
"""Algorithms that verify a chain and whose attention is given no tree mask."""

UNDRIVEN = {
    "DSPARK": "verify was not replayed: its rows are ragged, and triton, which stands in for the launch's attention "
    "backend, has no graphs for such",
    "UNO": "verify was not replayed: the worker packs its blocks itself",
}
"""Algorithms whose graphs no scenario can be driven through, and why."""


def ground_of(runner: Any, algorithm: str, context: int) -> Ground:
    """The ground of a target's model runner whose graphs are captured; `context` in tokens."""
    graphs = runner.decode_cuda_graph_runner
    width = int(seams.field(graphs, "captured width"))
    return Ground(
        width=width,
        sizes=tuple(seams.field(graphs, "capture list")),
        context=context,
        vocabulary=int(seams.field(seams.field(runner, "model's config"), "vocabulary")),
        page_size=int(runner.token_to_kv_pool_allocator.page_size),
        shapes=tuple(TREES) if width > 1 and algorithm not in LINEAR else CHAINS,
    )


def chosen(what: ReplayJob, ground: Ground) -> tuple[Scenario, ...]:
    """The scenarios that the job gives, else those of the catalogue whose names begin as it says."""
    if what.scenarios:
        return tuple(Scenario.from_json(one) for one in what.scenarios)
    return tuple(one for one in catalogue(ground, seed=what.seed) if not what.only or one.name.startswith(what.only))


def undriven(runner: Any, algorithm: str) -> str:
    """Why scenarios cannot be driven through this target's graphs, "" where they can."""
    for holds, why in (
        *((algorithm == name, why) for name, why in UNDRIVEN.items()),
        (
            hasattr(runner.token_to_kv_pool, "swa_kv_pool"),
            "verify was not replayed by scenarios: layers with a sliding window take slots that only the scheduler's "
            "batches name",
        ),
    ):
        if holds:
            return why
    return ""
