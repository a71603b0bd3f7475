"""From launches to judged cases: read the facts, build the contract, probe the engine, run the rules."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib import import_module

from ddtree_doctor.contract.build import build
from ddtree_doctor.errors import UsageError
from ddtree_doctor.facts.model import Facts, Host
from ddtree_doctor.judge import judge, refusal
from ddtree_doctor.ledger import Ledger
from ddtree_doctor.progress import step
from ddtree_doctor.report.document import Examined
from ddtree_doctor.rule import Case, Check
from ddtree_doctor.selection import selected
from ddtree_doctor.tiers import TIERS

__all__ = ["Plan", "deepest", "judged", "probed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run does: how deep, with which engine plugin, which rules, and how long a probe may take (seconds)."""

    tier: str
    plugin: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    deadline: float = 600.0

    def reaches(self, tier: str) -> bool:
        """Whether this run goes as deep as `tier`."""
        return TIERS.index(self.tier) >= TIERS.index(tier)

    def rules(self) -> tuple[type[Check], ...]:
        """The rules of this run. Raises UsageError where the selection names none."""
        return selected(import_module("ddtree_doctor.checks").rules(), self.select, self.ignore)


def deepest(facts: Facts, installed: str | None) -> str:
    """The deepest tier this machine can run: `replay-cpu` where the engine judged is the one `installed` here,
    `replay-gpu` where it also has the GPUs that are judged for.

    `installed` is the root of the SGLang that this interpreter would import; a source tree beside it is only read.
    """
    engine = facts.engine
    if engine.root is None or engine.root != installed or not engine.layout or engine.unknown:
        return "static"
    return "replay-cpu" if _no_gpu(facts.host) else "replay-gpu"


def _no_gpu(host: Host) -> str:
    """Why nothing can run here on the GPUs judged for, "" where it can."""
    if host.source == "nvml":
        return ""
    return "--gpu names other GPUs" if host.gpus else f"no GPU here ({host.unknown.get('gpus', 'none was seen')})"


def probed(facts: Sequence[Facts], plan: Plan) -> tuple[Case, ...]:
    """The case of each launch, with its ledger where the plan reaches the shape tier and the engine would start.

    The selection is tried first, so that a misspelt code costs no engine start. Raises UsageError for the replay-gpu
    tier where the GPUs judged for are not this machine's.
    """
    plan.rules()
    for one in facts:
        if plan.reaches("replay-gpu") and (why := _no_gpu(one.host)):
            raise UsageError(f"tier replay-gpu: {why}; look less deep, or run this on the GPU host")
    return tuple(_probed(Case(facts=one, contract=build(one)), plan) for one in facts)


def judged(cases: Sequence[Case], plan: Plan) -> tuple[Examined, ...]:
    """Every selected rule's outcome on every case. Where the engine would not start, deeper rules are skipped."""
    chosen = plan.rules()

    def one(case: Case) -> Examined:
        stopped = _refused(case)
        tier = "static" if stopped else plan.tier
        return Examined(case=case, outcomes=judge(case, chosen, tier, stopped=stopped))

    return tuple(one(case) for case in cases)


def _refused(case: Case) -> str:
    """Why the engine would not start. Rules that say so count whether they are selected or not."""
    rules: tuple[type[Check], ...] = import_module("ddtree_doctor.checks").rules()
    return refusal(judge(case, [rule for rule in rules if rule.refuses], "static"))


def _probed(case: Case, plan: Plan) -> Case:
    if not plan.reaches("shape") or _refused(case):
        return case
    with step(f"starting SGLang's own workers for {case.facts.launch.command[:60]}"):
        return replace(case, ledger=_ledger(case, plan))


def _ledger(case: Case, plan: Plan) -> Ledger:
    """Shapes, and behaviour where the plan goes so deep. Each probe is a process of its own."""
    from ddtree_doctor.probe.replay import behave_roles
    from ddtree_doctor.probe.replay_gpu import behave_gpu
    from ddtree_doctor.probe.shape import observe

    launch, settings = case.facts.launch, case.settings
    with ThreadPoolExecutor(max_workers=2) as pool:
        shapes = pool.submit(
            observe, launch, settings, plugin=plan.plugin, deadline=plan.deadline, gpu_mib=_gpu_mib(case.facts)
        )
        if not plan.reaches("replay-cpu"):
            return shapes.result()
        behaviours = pool.submit(behave_roles, launch, settings, plugin=plan.plugin, deadline=plan.deadline)
        seen = behaviours.result()
        if plan.reaches("replay-gpu"):
            # Alone: what runs beside it takes the cores that its kernels are compiled on.
            seen = (*seen, *behave_gpu(launch, settings, plugin=plan.plugin, deadline=plan.deadline))
        return replace(shapes.result(), behaviours=seen)


def _gpu_mib(facts: Facts) -> int | None:
    """The memory of the smallest GPU, in MiB, None where it is not known: the engine derives defaults from it."""
    known = [gpu.memory_mib for gpu in facts.host.gpus if gpu.memory_mib]
    return min(known, default=None)
