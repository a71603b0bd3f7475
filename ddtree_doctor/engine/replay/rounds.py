"""Rounds of a worker on requests: its draft graphs eager against replay, and what it keeps of what it accepts."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ddtree_doctor.engine import seams
from ddtree_doctor.engine.replay.ahead import following
from ddtree_doctor.engine.replay.drafts import DraftRole, draft_roles
from ddtree_doctor.engine.replay.kept import Kept, VerifyReached
from ddtree_doctor.engine.replay.origin import disown
from ddtree_doctor.engine.replay.plant import plant
from ddtree_doctor.engine.replay.serving import Serving
from ddtree_doctor.engine.replay.suite import ENGINE_ERRORS, levelled, one_line
from ddtree_doctor.engine.roles import expected
from ddtree_doctor.probe.child import Failed
from ddtree_doctor.replay.record import Acceptance, Access, Behaviour, Pass

if TYPE_CHECKING:
    from ddtree_doctor.engine.replay.stage import Stage
    from ddtree_doctor.engine.replay.suite import Watch
    from ddtree_doctor.engine.start import Started

__all__ = ["Rounds"]

ROUNDS = (3, 3, 2, 1)
"""Requests of each round: three are padded to four, then one in the middle leaves, then the first."""

DEPTHS = (4, 1, 2, 0)
"""Steps that are to be accepted, in turn over requests and rounds, as far as the tree goes."""

DRAFTS_ONLY = frozenset({"DDTREE", "DSPARK"})
"""Algorithms whose rounds end before verify: the doctor's DDTREE has DFLASH's worker, which verifies a chain, and the
rows that DSPARK verifies are ragged."""

SERVED = frozenset({"NGRAM", "EAGLE", "EAGLE3", "STANDALONE", "DFLASH", "DDTREE"})
"""Algorithms whose rounds are known to run here: an error in them is the engine's."""

NOT_DRIVEN = {
    "UNO": "it drafts on the target's own runner",
    "MULTI_LAYER_EAGLE": "its worker chains a graph for each draft layer",
}
"""Algorithm → why its drafts' graphs are not taken in between."""

AHEAD = 16
"""Tokens of the target's that are known behind a prompt: more than all rounds together can accept."""


@dataclass(slots=True)
class Rounds:
    """Serve some requests and note what was seen; `notes` says what could not be.

    `plain` says that plain forwards can be driven on this target, which is how it is known what it says next.
    """

    started: Started
    stage: Stage
    watch: Callable[[], Watch]
    dtype: str
    longest: int
    plain: bool = True
    roles: list[DraftRole] = field(default_factory=list)
    acceptances: list[Acceptance] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    launches: int = 0
    notes: list[str] = field(default_factory=list)
    scenario: str = "rounds"

    def behaviours(self, target: Behaviour) -> Iterator[Behaviour]:
        """The target's behaviour with what was accepted, then each draft role's. Serves the requests.

        An error of the engine is a pass that ended in it where the algorithm's rounds are known to run here; elsewhere
        it may be the doctor's own, and is a note. What the doctor itself reaches for and this release does not have
        leaves the target unknown, where it is none of the older releases whose requests it does not know to serve.
        """
        import torch

        began, error, unknown = time.monotonic(), "", ""
        try:
            with torch.no_grad():
                self.run(_prompts(target.page_size, self.longest))
        except (*ENGINE_ERRORS, Failed) as raised:
            traceback.print_exc()
            error, unknown = _blamed(raised)
        if unknown and seams.older():
            self.notes.append(f"no requests were served on this release: {unknown}")
            unknown = ""
        if error and target.algorithm not in SERVED:
            self.notes.append(f"{self.scenario} did not run: {error}")
            error = ""
        self.roles = [role for role in self.roles if role.passes]
        self.notes += _not_driven(self.started.job.checkpoints, {role.role for role in self.roles})
        failed = (Pass(scenario=self.scenario, step=0, bs=0, error=error),) if error else ()
        yield replace(
            target,
            passes=target.passes if self.roles else (*target.passes, *failed),
            acceptances=tuple(self.acceptances),
            accesses=(*target.accesses, *self.accesses),
            launches=target.launches + self.launches,
            notes=(*target.notes, *self.notes),
            unknown=target.unknown or unknown,
        )
        for role in self.roles:
            yield replace(
                target,
                role=role.role,
                width=int(seams.field(role.graphs, "captured width")),
                passes=(*levelled(role.passes), *failed),
                responses=(),
                accesses=tuple(role.accesses),
                launches=role.launches,
                notes=(),
                seconds=round(time.monotonic() - began, 2),
            )

    def run(self, prompts: Sequence[int]) -> None:
        """Serve prompts of these lengths. What the engine raises is raised."""
        ahead = following(self.stage, prompts, AHEAD) if self.plain else None
        serving = Serving(self.started)
        kept = Kept(serving, drafts_only=self.started.job.algorithm in DRAFTS_ONLY)
        self.roles = draft_roles(serving, self.watch, dtype=self.dtype, longest=self.longest)
        turn = _Turn()
        with kept.watching():
            with self._watched():
                serving.admit([self.stage.text(slot, length) for slot, length in enumerate(prompts)])
            if not kept.drafts_only and not (ahead and plant(serving, ahead, turn.depth)):
                self.notes.append("no path was planted in this worker's drafts: random ones are hardly ever accepted")
            for turn.round, size in enumerate(ROUNDS):
                with self._watched():
                    while len(serving.requests) > size:
                        self.acceptances += kept.leaving(len(serving.requests) // 2)
                self.scenario = f"rounds/{turn.round + 1} of {len(ROUNDS)} ({size} requests)"
                self._round(serving, kept)
            with self._watched():
                while serving.requests:
                    self.acceptances += kept.leaving(0)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Note what strays outside the draft graphs, whose own watch is asked first: the walk, the move of keys."""
        watch = self.watch()
        try:
            with watch.watching():
                yield
        finally:
            self.accesses += watch.found(self.scenario)
            self.launches += watch.launches

    def _round(self, serving: Serving, kept: Kept) -> None:
        for role in self.roles:
            role.scenario = self.scenario
        with self._watched(), suppress(VerifyReached):
            self.acceptances += kept.acceptances(serving.round(), self.scenario)


@dataclass(slots=True)
class _Turn:
    """Which round it is, and how many steps it is to accept of each request."""

    round: int = 0

    def depth(self, at: int) -> int:
        return DEPTHS[(self.round + at) % len(DEPTHS)]


def _blamed(raised: Exception) -> tuple[str, str]:
    """What the engine raised, or else what the doctor reached for in vain; the other is ""."""
    try:
        disown(raised)
    except seams.MovedSeam as moved:
        raised = moved
    return ("", str(raised)) if isinstance(raised, seams.MovedSeam) else (one_line(raised), "")


def _prompts(page: int, longest: int) -> tuple[int, ...]:
    """Lengths of the prompts: one that ends within a page, one just behind a page, a short one."""
    return tuple(min(length, longest) for length in (5, page + 1 if page > 1 else 17, 9))


def _not_driven(algorithm: str, driven: Collection[str]) -> Iterator[str]:
    """A note for each draft role of the algorithm whose graph's calls were not taken in between, with the reason."""
    for role in expected(algorithm):
        if role.startswith("draft") and role not in driven:
            why = NOT_DRIVEN.get(algorithm, "its worker holds no graph that is known here")
            yield f"{role} was not replayed: {why}"
