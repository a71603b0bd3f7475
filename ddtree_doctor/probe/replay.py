"""Replay a launch's verify passes on the CPU: a process of its own in, behaviours out, whatever happens in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from dacite import Config, DaciteError, from_dict

from ddtree_doctor.contract.model import Settings
from ddtree_doctor.engine.mutants import mutant_file
from ddtree_doctor.engine.plugins import plugin_named
from ddtree_doctor.engine.replay.job import ReplayJob, replay_job
from ddtree_doctor.launch.model import Launch
from ddtree_doctor.probe.process import Limits, Outcome, module, run
from ddtree_doctor.replay.record import Behaviour
from ddtree_doctor.replay.scenario import Scenario

__all__ = ["behave", "behave_roles", "read_behaviours"]


def behave(
    launch: Launch,
    settings: Settings,
    *,
    plugin: str | None = None,
    mutant: str | None = None,
    only: Sequence[str] = (),
    scenarios: Sequence[Scenario] = (),
    responses: bool = True,
    deadline: float = 120.0,
) -> Behaviour:
    """The behaviour of the launch's target role alone. What goes wrong in the probe is its `unknown`.

    `only` are prefixes of scenario names, `scenarios` replace the catalogue, `deadline` is in seconds. Raises
    UsageError for a plugin or mutant that does not exist.
    """
    what = _job(launch, settings, plugin, mutant)
    given = tuple(one.to_json() for one in scenarios)
    return _run(replace(what, only=tuple(only), scenarios=given, responses=responses, served=False), deadline)[0]


def behave_roles(
    launch: Launch, settings: Settings, *, plugin: str | None = None, mutant: str | None = None, deadline: float = 120.0
) -> tuple[Behaviour, ...]:
    """The behaviour of every role of the launch, the target's first, by all that the CPU tier runs; as for `behave`."""
    return _run(_job(launch, settings, plugin, mutant), deadline)


def _job(launch: Launch, settings: Settings, plugin: str | None, mutant: str | None) -> ReplayJob:
    chosen = plugin_named(plugin).name if plugin else ""
    start = replay_job(launch, settings, plugin=chosen, mutant=mutant_file(mutant) if mutant else "")
    return ReplayJob(start=asdict(start))


def _run(what: ReplayJob, deadline: float) -> tuple[Behaviour, ...]:
    limits = Limits(deadline=deadline, start=min(deadline, Limits().start))
    outcome = run(module("ddtree_doctor.engine.replay.behaviour"), asdict(what), limits=limits)
    return read_behaviours(what.start["algorithm"], outcome)


def read_behaviours(algorithm: str, outcome: Outcome) -> tuple[Behaviour, ...]:
    """What a probe answered, the target's behaviour first; what went wrong instead as the `unknown` of the only one."""
    if outcome.kind != "ok":
        return (_unknown(algorithm, outcome, outcome.reason),)
    try:
        found = tuple(map(_read, outcome.answer))
    except (DaciteError, TypeError, ValueError) as error:
        return (_unknown(algorithm, outcome, f"the probe's answer is no behaviour: {error}"),)
    return found or (_unknown(algorithm, outcome, "the probe's answer holds no behaviour"),)


def _read(answer: Any) -> Behaviour:
    return from_dict(Behaviour, answer, Config(cast=[tuple]))


def _unknown(algorithm: str, outcome: Outcome, why: str) -> Behaviour:
    role = "decode" if algorithm == "NONE" else "target_verify"
    return Behaviour(
        host="cpu",
        algorithm=algorithm,
        role=role,
        backend="triton",
        dtype="float32",
        page_size=1,
        width=0,
        seconds=round(outcome.seconds, 2),
        unknown=why,
    )
