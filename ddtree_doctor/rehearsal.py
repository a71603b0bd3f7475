"""From launches to replayed cases: their verify passes on this machine, and what a GPU's cells come down to."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

from ddtree_doctor import __version__
from ddtree_doctor.contract.build import build
from ddtree_doctor.facts.model import Facts, Host
from ddtree_doctor.judge import BLOCKING, judge_alone
from ddtree_doctor.ledger import Ledger
from ddtree_doctor.progress import counted
from ddtree_doctor.replay.arch import Measured, Run
from ddtree_doctor.replay.engine_run import EngineRun
from ddtree_doctor.replay.record import Behaviour
from ddtree_doctor.rule import Case

if TYPE_CHECKING:
    from ddtree_doctor.engine.replay.gpu_job import Cell
    from ddtree_doctor.probe.process import Progress

__all__ = ["HOSTS", "Rehearsal", "measured_run", "rehearsed"]

HOSTS = {"cpu": ("replay-cpu", "DD3"), "gpu": ("replay-gpu", "DD4")}
"""Where passes are replayed → the tier, and the codes of its rules."""

KERNELS = ("sglang-kernel", "sgl-kernel", "flashinfer-python", "flashinfer-cubin", "flashinfer-jit-cache")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """What `doctor replay` does. Empty `backends`, `pages` and `budgets` mean what the launch says.

    `tools` are compute-sanitizer's, for one scenario each, `engine` asks for runs of the whole engine too. `jobs` is
    how many probes run side by side, None for as many as the machine's cores allow, `deadline` in seconds for each.
    """

    host: str
    plugin: str | None = None
    backends: tuple[str, ...] = ()
    pages: tuple[int, ...] = ()
    budgets: tuple[int, ...] = ()
    tools: tuple[str, ...] = ()
    engine: bool = False
    jobs: int | None = None
    deadline: float = 600.0


def rehearsed(facts: Sequence[Facts], plan: Rehearsal) -> tuple[Case, ...]:
    """The case of each launch with the behaviours that were seen."""
    return tuple(_rehearsed(Case(facts=one, contract=build(one)), plan) for one in facts)


def _rehearsed(case: Case, plan: Rehearsal) -> Case:
    seen = _on_gpu(case, plan) if plan.host == "gpu" else _on_cpu(case, plan)
    algorithm = case.settings.algorithm.value or "NONE"
    runs = _whole(case, plan) if plan.engine else ()
    seconds = sum(one.seconds for one in seen) + sum(one.seconds for one in runs)
    ledger = Ledger(algorithm=algorithm, behaviours=seen, engine_runs=runs, seconds=round(seconds, 2))
    return replace(case, ledger=ledger)


def _on_cpu(case: Case, plan: Rehearsal) -> tuple[Behaviour, ...]:
    from ddtree_doctor.probe.replay import behave_roles
    from ddtree_doctor.progress import step

    with step(f"replaying verify passes of {case.facts.launch.command[:60]}"):
        return behave_roles(case.facts.launch, case.settings, plugin=plan.plugin, deadline=plan.deadline)


def _whole(case: Case, plan: Rehearsal) -> tuple[EngineRun, ...]:
    from ddtree_doctor.probe.whole_engine import compare
    from ddtree_doctor.progress import step

    with step(f"running the whole engine for {case.facts.launch.command[:60]}"):
        return compare(
            case.facts.launch,
            case.settings,
            host=plan.host,
            plugin=plan.plugin,
            at_once=plan.jobs,
            deadline=plan.deadline,
        )


def _on_gpu(case: Case, plan: Rehearsal) -> tuple[Behaviour, ...]:
    from ddtree_doctor.probe.replay_gpu import AT_ONCE, behave_gpu, cells, sanitize

    def tell(cell: Cell) -> Progress:
        return counted(str(cell))

    launch, settings = case.facts.launch, case.settings
    asked = cells(plan.backends, plan.pages, plan.budgets)
    seen = behave_gpu(
        launch,
        settings,
        plugin=plan.plugin,
        asked=asked,
        at_once=plan.jobs or AT_ONCE,
        deadline=plan.deadline,
        tell=tell,
    )
    if not plan.tools:
        return seen
    watched = sanitize(
        launch, settings, plan.tools, plugin=plan.plugin, cell=asked[0], deadline=plan.deadline, tell=tell
    )
    return (*seen, *watched)


def measured_run(cases: Sequence[Case], host: Host, command: str) -> Run:
    """What the cases' behaviours on this GPU come down to, each judged by the replay-gpu rules alone."""
    packages = {name: package.version for name, package in host.packages.items()}
    cells = [
        _cell(case, seen) for case in cases if case.ledger for seen in case.ledger.behaviours if not seen.sanitizer
    ]
    return Run(
        date=time.strftime("%Y-%m-%d", time.gmtime()),
        command=command,
        gpu=host.gpus[0].name,
        driver=host.driver or "",
        torch=packages.get("torch", ""),
        triton=packages.get("triton", ""),
        sglang=packages.get("sglang", ""),
        doctor=__version__,
        kernels={name: packages[name] for name in KERNELS if name in packages},
        cells=tuple(cells),
    )


def _cell(case: Case, seen: Behaviour) -> Measured:
    tier, prefix = HOSTS["gpu"]
    rules = [rule for rule in import_module("ddtree_doctor.checks").rules() if rule.code.startswith(prefix)]
    findings = [finding for outcome in judge_alone(case, seen, rules, tier) for finding in outcome.findings]
    blocked = any((finding.severity, finding.confidence) in BLOCKING for finding in findings)
    return Measured(
        algorithm=seen.algorithm,
        backend=seen.backend,
        width=seen.width,
        page_size=seen.page_size,
        dtype=seen.dtype,
        verdict="failed" if blocked else "unknown" if seen.unknown else "passed",
        scenarios=len({one.scenario for one in seen.passes}),
        passes=len(seen.passes),
        hits=sum(one.hit for one in seen.passes),
        findings=tuple(sorted({finding.code for finding in findings})),
        unknown=seen.unknown,
        seconds=seen.seconds,
    )
