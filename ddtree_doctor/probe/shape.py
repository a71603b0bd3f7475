"""Observe a launch on the engine's own workers: a process of its own in, a ledger out, whatever happens in between."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from dacite import Config, DaciteError, from_dict

from ddtree_doctor.contract.model import Settings
from ddtree_doctor.engine.job import Job, job
from ddtree_doctor.engine.mutants import mutant_file
from ddtree_doctor.engine.plugins import plugin_named
from ddtree_doctor.launch.model import Launch
from ddtree_doctor.ledger import Ledger
from ddtree_doctor.probe.process import Limits, Outcome, module, run

__all__ = ["observe", "observe_job", "read_ledger"]


def observe(
    launch: Launch,
    settings: Settings,
    *,
    plugin: str | None = None,
    mutant: str | None = None,
    deadline: float = 90.0,
    gpu_mib: int | None = None,
) -> Ledger:
    """The ledger of `launch`: its widths, flags, capture settings and ranks on SGLang's own workers, on the CPU.

    `plugin` and `mutant` are names. `deadline` is in seconds. `gpu_mib` is the memory of the launch's GPU in MiB, from
    which the engine derives defaults. Whatever goes wrong in the probe is the ledger's `unknown`; raises UsageError
    only for a plugin or mutant that does not exist.
    """
    chosen = plugin_named(plugin).name if plugin else ""
    fault = mutant_file(mutant) if mutant else ""
    return observe_job(job(launch, settings, plugin=chosen, mutant=fault, gpu_mib=gpu_mib), deadline=deadline)


def observe_job(what: Job, *, deadline: float = 90.0) -> Ledger:
    """The ledger of one prepared start."""
    limits = Limits(deadline=deadline, start=min(deadline, Limits().start))
    return _ledger(what, run(module("ddtree_doctor.engine.shape"), asdict(what), limits=limits))


def _ledger(what: Job, outcome: Outcome) -> Ledger:
    if outcome.kind != "ok":
        return _unknown(what, outcome, outcome.reason)
    try:
        return read_ledger(outcome.answer)
    except (DaciteError, TypeError, ValueError) as error:
        return _unknown(what, outcome, f"the probe's answer is no ledger: {error}")


def read_ledger(answer: Any) -> Ledger:
    """A ledger from plain data. Raises DaciteError, TypeError or ValueError for anything else."""
    return from_dict(Ledger, answer, Config(cast=[tuple]))


def _unknown(what: Job, outcome: Outcome, why: str) -> Ledger:
    return Ledger(
        algorithm=what.algorithm,
        substituted=what.substituted,
        seconds=round(outcome.seconds, 2),
        unknown=why,
    )
