"""Observe one launch under several faults, in one process that opens the engine once and forks for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from ddtree_doctor.contract.model import Settings
from ddtree_doctor.engine.job import Job, job
from ddtree_doctor.engine.mutants import mutant_file
from ddtree_doctor.engine.plugins import plugin_named
from ddtree_doctor.engine.replay.job import ReplayJob, replay_job
from ddtree_doctor.launch.model import Launch
from ddtree_doctor.ledger import Ledger
from ddtree_doctor.probe.process import Limits, Outcome, module, run
from ddtree_doctor.probe.replay import read_behaviours
from ddtree_doctor.probe.shape import read_ledger
from ddtree_doctor.replay.record import Behaviour

__all__ = ["RESPONSES", "ROUNDS", "behave_each", "observe_each"]

RESPONSES = "responses"
"""Stands among prefixes of scenario names for the replays with one thing changed between them."""

ROUNDS = "rounds"
"""Stands there for rounds of the worker: draft graphs, and what is kept of what is accepted."""


def observe_each(
    launch: Launch,
    settings: Settings,
    mutants: Sequence[str],
    *,
    plugin: str | None = None,
    forwards: int = 1,
    deadline: float = 300.0,
) -> dict[str, Ledger]:
    """The ledger of `launch` under each of `mutants` by name; `""` is the launch without a fault.

    `forwards` is how many of each runner's smallest graphs are really run, `deadline` in seconds for all together.
    What goes wrong is the ledgers' `unknown`; raises UsageError for a plugin or mutant that does not exist.
    """
    shared = replace(
        job(launch, settings, plugin=plugin_named(plugin).name if plugin else ""),
        forwards=forwards,
        draft_forwards=forwards,
    )
    jobs = [replace(shared, mutant=mutant_file(name) if name else "") for name in mutants]
    outcome = run(
        module("ddtree_doctor.engine.warm"), [asdict(one) for one in jobs], limits=Limits(deadline=deadline, start=60.0)
    )
    return {name: _ledger(one, outcome, at) for at, (name, one) in enumerate(zip(mutants, jobs, strict=True))}


def _ledger(what: Job, outcome: Outcome, at: int) -> Ledger:
    said: dict[str, Any] = outcome.answer[at] if outcome.kind == "ok" else {"failed": outcome.why}
    if "answer" in said:
        return read_ledger(said["answer"])
    return Ledger(algorithm=what.algorithm, substituted=what.substituted, unknown=said["failed"])


def behave_each(
    launch: Launch,
    settings: Settings,
    mutants: Mapping[str, Sequence[str]],
    *,
    plugin: str | None = None,
    deadline: float = 600.0,
) -> dict[str, tuple[Behaviour, ...]]:
    """The behaviours of `launch`, one a role, the target's first, under each of `mutants`.

    Those are each one's name, `""` for none, and what runs under it: prefixes of scenario names, RESPONSES and ROUNDS;
    everything if there are none. `deadline` is in seconds for all together. What goes wrong is the behaviours'
    `unknown`; raises UsageError for a plugin or mutant that is not there.
    """
    chosen = plugin_named(plugin).name if plugin else ""
    shared = replay_job(launch, settings, plugin=chosen)
    jobs = [
        ReplayJob(
            start=asdict(replace(shared, mutant=mutant_file(name) if name else "")),
            only=tuple(only),
            responses=not only or RESPONSES in only,
            served=not only or ROUNDS in only,
        )
        for name, only in mutants.items()
    ]
    outcome = run(
        module("ddtree_doctor.engine.replay.warm"),
        [asdict(one) for one in jobs],
        limits=Limits(deadline=deadline, start=60.0),
    )
    return {name: read_behaviours(shared.algorithm, _of_one(outcome, at)) for at, name in enumerate(mutants)}


def _of_one(outcome: Outcome, at: int) -> Outcome:
    """What came of the job at `at` of those that one process did."""
    if outcome.kind != "ok":
        return outcome
    said: dict[str, Any] = outcome.answer[at]
    if "answer" in said:
        return replace(outcome, answer=said["answer"])
    return replace(outcome, kind="failed", why=said["failed"], answer=None)
