"""Replay a launch's verify passes on the CPU: a process of its own in, a behaviour out, whatever happens in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
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

__all__ = ["behave", "read_behaviour"]


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
    """The behaviour of the launch's target role. What goes wrong in the probe is its `unknown`.

    `only` are prefixes of scenario names, `scenarios` replace the catalogue, `deadline` is in seconds. Raises
    UsageError for a plugin or mutant that does not exist.
    """
    chosen = plugin_named(plugin).name if plugin else ""
    start = replay_job(launch, settings, plugin=chosen, mutant=mutant_file(mutant) if mutant else "")
    what = ReplayJob(
        start=asdict(start),
        only=tuple(only),
        scenarios=tuple(one.to_json() for one in scenarios),
        responses=responses,
    )
    limits = Limits(deadline=deadline, start=min(deadline, Limits().start))
    return read_behaviour(
        start.algorithm, run(module("ddtree_doctor.engine.replay.behaviour"), asdict(what), limits=limits)
    )


def read_behaviour(algorithm: str, outcome: Outcome) -> Behaviour:
    """What a probe answered, as a behaviour; what went wrong instead as its `unknown`."""
    if outcome.kind != "ok":
        last = next((line.strip() for line in reversed(outcome.log.splitlines()) if line.strip()), "")
        said = f" (last line: {last[:300]})" if last and outcome.kind not in ("failed", "timeout") else ""
        return _unknown(algorithm, outcome, f"{outcome.why}{said}")
    try:
        return _read(outcome.answer)
    except (DaciteError, TypeError, ValueError) as error:
        return _unknown(algorithm, outcome, f"the probe's answer is no behaviour: {error}")


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
