"""Runs scenarios on a stage and notes what was seen: eager against replay, tree rows against paths, stray memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import torch

from ddtree_doctor.engine.replay.batches import Verify
from ddtree_doctor.engine.replay.cache import committed_keys
from ddtree_doctor.engine.replay.compare import gap, noise
from ddtree_doctor.engine.replay.origin import disown
from ddtree_doctor.engine.replay.paths import path_gap
from ddtree_doctor.engine.replay.poison import Poison
from ddtree_doctor.engine.replay.stage import Replayed, Stage
from ddtree_doctor.replay.record import Access, Gap, Pass
from ddtree_doctor.replay.scenario import Batch, Scenario

__all__ = ["ENGINE_ERRORS", "Suite", "Watch", "levelled", "one_line", "suite_of"]

ENGINE_ERRORS = (RuntimeError, ValueError, IndexError, KeyError, AssertionError, AttributeError, TypeError)
"""What a fault in a forward pass may raise. MemoryError is none: the stage itself ran out."""

REPEATED_EVERY = 8
"""Every eighth pass, and the first of each larger batch, has its first request run again alone, for the measured noise.

A graph may be padded to another batch size than eager has, and matrix products sum in an order that hangs on the size.
"""


class Watch(Protocol):
    """Looks for stray memory accesses during replays."""

    @property
    def launches(self) -> int:
        """Kernel launches that were watched."""

    def watching(self) -> Any:
        """A context inside which it looks on."""

    def found(self, scenario: str) -> list[Access]:
        """What it saw since it was last asked."""


@dataclass(slots=True)
class Suite:
    """Scenarios on one stage. `oracle` says for which of them every tree row is held against its path.

    `fatal` tells an error after which this process can compute no more (a CUDA fault); it is raised on.
    """

    stage: Stage
    poison: Poison
    watch: Watch
    dtype: str
    oracle: Callable[[Scenario], bool]
    fatal: Callable[[Exception], bool] = lambda _: False
    progress: Callable[[str, int, int], None] = lambda name, done, of: None
    passes: list[Pass] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    spread: float = 0.0
    alone: int = 0
    turn: int = 0

    @property
    def summing(self) -> float:
        """The noise of summing in another order, measured by the path oracle so far."""
        return max((one.path.spread for one in self.passes if one.path), default=0.0)

    def run(self, scenarios: Sequence[Scenario]) -> None:
        """Run them all. An error of the engine ends its scenario and is noted; a fatal one is noted and raised."""
        for done, scenario in enumerate(scenarios):
            self.progress(scenario.name, done, len(scenarios))
            self.stage.clear()
            for step, batch in enumerate(scenario.batches):
                try:
                    self.passes.append(self._pass(scenario, step, batch))
                except ENGINE_ERRORS as error:
                    disown(error)
                    self.passes.append(Pass(scenario=scenario.name, step=step, bs=batch.size, error=one_line(error)))
                    if self.fatal(error):
                        raise
                    break
        self.passes[:] = levelled(self.passes)
        self.stage.clear()

    def replay(self, verify: Verify, scenario: str) -> Replayed:
        """One replay over poisoned buffers, watched; what it wrote over committed tokens is noted."""
        with self.looking(verify, scenario):
            return self.stage.replay(verify)

    @contextmanager
    def watched(self, scenario: str) -> Iterator[None]:
        """Note stray memory accesses of the block; on the CPU they are also kept from harming this process."""
        with self.watch.watching():
            yield
        self.accesses += self.watch.found(scenario)

    @contextmanager
    def looking(self, verify: Verify, scenario: str) -> Iterator[None]:
        """Poison, watch, and hold the cache of committed tokens against what it was."""
        victim_slot, victim_row = self.stage.victim()
        self.turn += 1
        self.poison.spill(victim_slot=victim_slot, victim_row=victim_row, turn=self.turn % 2)
        before = committed_keys(self.stage)
        with self.watched(scenario):
            yield
        if not torch.equal(before, committed_keys(self.stage)):
            written = Access(where="KV cache of committed tokens", access="store", offset=0, size=0, scenario=scenario)
            self.accesses.append(written)

    def _pass(self, scenario: Scenario, step: int, batch: Batch) -> Pass:
        """The replay comes first: what eager leaves in buffers of the backend's would be what a replay needs there."""
        with self.watched(scenario.name):
            verify = self.stage.verify(batch)
        seen = self.replay(verify, scenario.name)
        with self.watched(scenario.name):
            eager = self.stage.eager(verify)
            if batch.size > self.alone or len(self.passes) % REPEATED_EVERY == 0:
                self.alone = max(self.alone, batch.size)
                again = self.stage.eager(verify.first())
                self.spread = max(self.spread, noise(again, eager[: batch.width], self.dtype))
            path = path_gap(self.stage, batch, eager, self.dtype) if self.oracle(scenario) else None
        return Pass(
            scenario=scenario.name,
            step=step,
            bs=batch.size,
            hit=seen.hit,
            captured_bs=seen.captured_bs,
            key=seen.key,
            replay=self._gap(eager, seen) if seen.hit else None,
            path=path,
        )

    def _gap(self, eager: torch.Tensor, seen: Replayed) -> Gap:
        return gap(eager, seen.rows, spread=self.spread, dtype=self.dtype, logits=seen.vocabulary)


def suite_of(runner: Any, *, page_size: int, vocabulary: int, longest: int, seed: int, **options: Any) -> Suite:
    """The suite on a target's model runner whose graphs are captured; `options` are other fields of Suite."""
    graphs = runner.decode_cuda_graph_runner
    return Suite(
        stage=Stage(runner, graphs, page_size=page_size, vocabulary=vocabulary, seed=seed),
        poison=Poison(graphs, vocabulary=vocabulary, longest=longest),
        dtype=str(runner.dtype).removeprefix("torch."),
        **options,
    )


def levelled(passes: Sequence[Pass]) -> list[Pass]:
    """The passes, each comparison granted the largest noise that was measured of its kind: one measure may be lucky."""
    spreads = {
        kind: max((found.spread for one in passes if (found := getattr(one, kind))), default=0.0)
        for kind in ("replay", "path")
    }

    def granted(one: Pass, kind: str) -> Gap | None:
        found: Gap | None = getattr(one, kind)
        return found and replace(found, spread=spreads[kind])

    return [replace(one, replay=granted(one, "replay"), path=granted(one, "path")) for one in passes]


def one_line(error: Exception) -> str:
    """The type and the first line of an error."""
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0][:500]}"
