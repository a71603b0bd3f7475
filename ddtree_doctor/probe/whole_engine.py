"""Run the whole engine of a launch several times, each run a process of its own, and gather what it said."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace

from dacite import Config, DaciteError, from_dict

from ddtree_doctor.contract.model import Settings
from ddtree_doctor.engine.mutants import mutant_file
from ddtree_doctor.engine.plugins import plugin_named
from ddtree_doctor.engine.whole.job import EngineJob, engine_jobs
from ddtree_doctor.launch.model import Launch
from ddtree_doctor.probe.process import Limits, Outcome, module, run
from ddtree_doctor.probe.replay_gpu import DISK, START_S
from ddtree_doctor.replay.engine_run import EngineRun

__all__ = ["compare", "engine_run", "last_error"]

AT_ONCE = max(1, min(5, os.cpu_count() or 1))
"""Engines side by side: each takes a core or two to import, and a few GiB of the GPU."""

_CHILD = "ddtree_doctor.engine.whole.child"
_ERROR = re.compile(r"^[A-Za-z_][\w.]{0,80}(?:Error|Exception|Interrupt|OutOfResources)\b", re.MULTILINE)
"""How the last line of a traceback begins."""


def compare(
    launch: Launch,
    settings: Settings,
    *,
    host: str,
    plugin: str | None = None,
    mutant: str | None = None,
    tokens: int | None = None,
    at_once: int | None = None,
    deadline: float = 300.0,
) -> tuple[EngineRun, ...]:
    """What the whole engine says to the same prompts: without speculation twice, with it, with graphs and eager.

    What goes wrong is a run's `unknown`. `host` is `cpu` or `gpu`, `mutant` a fault that the runs with speculation are
    under, `tokens` how many each prompt is answered with, `deadline` in seconds for each run. Raises UsageError for a
    plugin or mutant that does not exist.
    """
    chosen = plugin_named(plugin).name if plugin else ""
    faulty = mutant_file(mutant) if mutant else ""
    jobs = engine_jobs(launch, settings, host=host, plugin=chosen, mutant=faulty, tokens=tokens)
    with ThreadPoolExecutor(max_workers=at_once or AT_ONCE) as pool:
        return tuple(pool.map(lambda job: engine_run(job, deadline), jobs))


def last_error(log: str) -> str:
    """The last line of `log` that ends a traceback, "" where there is none: what an engine's process died of."""
    found = [log[match.start() :].partition("\n")[0] for match in _ERROR.finditer(log)]
    return found[-1].strip()[:300] if found else ""


def engine_run(job: EngineJob, deadline: float) -> EngineRun:
    """One run in a process of its own, whatever happens there; `deadline` is in seconds."""
    if job.speculation and job.start["plugin"]:
        return _unknown(job, 0.0, _not_served(job))
    limits = Limits(deadline=deadline, start=min(deadline, START_S), disk=DISK)
    outcome = run(module(_CHILD), asdict(job), limits=limits)
    if outcome.kind != "ok":
        return _unknown(job, outcome.seconds, _why(outcome))
    try:
        return from_dict(EngineRun, outcome.answer, Config(cast=[tuple]))
    except (DaciteError, TypeError, ValueError) as error:
        return _unknown(job, outcome.seconds, f"the probe's answer is no run: {error}")


def _not_served(job: EngineJob) -> str:
    return (
        f"the doctor's plugin {job.start['plugin']} gives this SGLang the graphs of {job.start['algorithm']}, but its "
        "scheduler verifies no such tree; a whole engine takes a fork that does"
    )


def _why(outcome: Outcome) -> str:
    """What a run ended in: the engine's own error where it printed one, for its processes end each other by signals."""
    said = last_error(outcome.log)
    told = [outcome.why if outcome.kind in ("failed", "timeout") else "", said if said not in outcome.why else ""]
    return "; ".join(filter(None, told)) or outcome.reason


def _unknown(job: EngineJob, seconds: float, why: str) -> EngineRun:
    return replace(job.blank(), seconds=round(seconds, 2), unknown=why)
