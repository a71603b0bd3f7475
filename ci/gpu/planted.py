"""Mutants on a GPU: each under the launch and scenarios that it names, and whether a rule finds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import TYPE_CHECKING, Any

from seen import judged, summary

from ddtree_doctor.engine.mutants import gpu_mutants, mutants
from ddtree_doctor.probe.replay_gpu import behave_gpu, sanitize

if TYPE_CHECKING:
    from run import Here

MUTANT_SECONDS = 200.0
SANITIZED_SECONDS = 230.0


def faults(here: Here) -> Any:
    """Planted illegal accesses: each ends its probe in a real CUDA error, is named, and the GPU goes on."""
    return each_of(here, gpu_mutants(), killed)


def behaviour_mutants(here: Here, *names: str) -> Any:
    """The behaviour mutants of the CPU, on the GPU; those that show in served rounds alone are not for this tier."""
    meant = [name for name in mutants() if _twin(name).startswith("DD4") and "rounds" not in module_of(name).SCENARIOS]
    return each_of(here, names or meant, killed)


def memory_mutants(here: Here, *names: str) -> Any:
    """The mutants that touch memory outside tensors, under memcheck: it sees loads, which no guard band does."""
    meant = [name for name in mutants() if _twin(name) == "DD407"]
    return each_of(here, names or meant, killed_under_memcheck)


def _twin(name: str) -> str:
    """The GPU's twin of the rule that is to find a mutant."""
    code: str = module_of(name).KILLED_BY
    return code.replace("DD3", "DD4", 1)


def each_of(here: Here, names: Sequence[str], judge_one: Callable[[Here, str], dict[str, Any]]) -> Any:
    """Every mutant on the GPU, several at a time."""
    with ThreadPoolExecutor(here.jobs) as pool:
        found = dict(zip(names, pool.map(lambda name: judge_one(here, name), names), strict=True))
    return tally(found)


def tally(found: Mapping[str, Any]) -> dict[str, Any]:
    """How many of the mutants were killed, and what was seen of each."""
    return {"killed": sum(one["killed"] for one in found.values()), "of": len(found), "each": found}


def killed(here: Here, name: str) -> dict[str, Any]:
    """One mutant on the GPU: which rules find it, and whether the named one, or its GPU twin, is among them.

    No guard band sees a load: what leaves every rule silent there runs under memcheck.
    """
    module = module_of(name)
    plugin = getattr(module, "PLUGIN", "")
    case = here.case(module.LAUNCH, plugin)
    only = tuple(module.SCENARIOS)
    (seen,) = behave_gpu(
        case.facts.launch,
        case.settings,
        plugin=plugin or None,
        mutant=name,
        only=only,
        responses="responses" in only,
        deadline=MUTANT_SECONDS,
    )
    found, wanted = judged(case, seen), _twin(name)
    if wanted == "DD407" and not found:
        return killed_under_memcheck(here, name)
    # What a stray access does on a GPU hangs on what lies there: a band, other data, or nothing at all.
    hit = bool(seen.unknown) and not found if wanted == "unknown" else wanted in found or (wanted == "DD407" and found)
    return summary(seen) | {"wanted": wanted, "judged": found, "killed": bool(hit), "noticed": bool(found)}


def killed_under_memcheck(here: Here, name: str) -> dict[str, Any]:
    """One mutant under memcheck: whether it reports anything."""
    module = module_of(name)
    plugin = getattr(module, "PLUGIN", "")
    case = here.case(module.LAUNCH, plugin)
    options: dict[str, Any] = {"plugin": plugin or None, "mutant": name, "deadline": SANITIZED_SECONDS}
    (seen,) = sanitize(case.facts.launch, case.settings, ("memcheck",), **options)
    found = judged(case, seen)
    return summary(seen) | {"wanted": "DD410", "judged": found, "killed": "DD410" in found, "noticed": bool(found)}


def module_of(name: str) -> Any:
    """The module of a mutant."""
    return import_module(f"ddtree_doctor.fixtures.mutants.{name.replace('/', '.')}")
