"""On which side of each axis a reduced case fails: graph, speculation, captured sizes, budget, backend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from ddtree_doctor.engine.job import Job
from ddtree_doctor.engine.replay.gpu_job import at_budget
from ddtree_doctor.engine.replay.job import without_speculation
from ddtree_doctor.errors import UsageError
from ddtree_doctor.launch.model import Launch
from ddtree_doctor.probe.reduction import Probes
from ddtree_doctor.reduction.ddmin import DidNotFail, ddmin
from ddtree_doctor.reduction.record import Found
from ddtree_doctor.reduction.verdict import fired
from ddtree_doctor.replay.scenario import Batch, Request, Scenario
from ddtree_doctor.tree.model import Tree

__all__ = ["Axis", "axes", "budgets_of", "captured_sizes", "plain_decode", "rewidened"]

AT_ONCE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What one axis says. `tested` is false where it could not be tried, and `verdict` says why."""

    name: str
    verdict: str
    tested: bool = True


def captured_sizes(probes: Probes, start: Job, found: Found, sizes: Sequence[int]) -> tuple[int, ...]:
    """The captured batch sizes that the case needs, a start of the engine for each trial."""

    def fails(some: tuple[int, ...]) -> bool:
        seen = probes.seen(start, found.scenarios, code=found.code, sizes=some)
        return found.code in fired(probes.case, seen)

    try:
        return ddmin(sizes, lambda some: some == tuple(sizes) or fails(some))
    except DidNotFail:
        return tuple(sizes)


def axes(probes: Probes, start: Job, found: Found, sizes: Sequence[int], before: Sequence[int]) -> tuple[Axis, ...]:
    """The verdict of each axis on the smallest case, found with graphs of `sizes` where the start has `before`."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        plain = pool.submit(_speculation, probes, start, found, sizes)
        narrow = pool.submit(_budget, probes, start, found, sizes)
        return (
            _graph(found),
            plain.result(),
            Axis(name="captured sizes", verdict=f"fails with graphs for {_listed(sizes)} only (of {_listed(before)})"),
            narrow.result(),
            Axis(
                name="backend",
                verdict="triton; no other attention backend runs on the CPU (`doctor replay --backends all` on a GPU)",
                tested=False,
            ),
        )


def _graph(found: Found) -> Axis:
    if found.code == "DD306":
        return Axis(name="graph", verdict="the eager forward is not at fault: the pass ran without its graph")
    if found.code in found.eager:
        return Axis(name="graph", verdict="the eager forward fails by itself, without any graph")
    other = f", which fails by {', '.join(found.eager)} instead" if found.eager else ", which is clean"
    return Axis(name="graph", verdict=f"only with graphs, not in the eager forward{other}")


def _speculation(probes: Probes, start: Job, found: Found, sizes: Sequence[int]) -> Axis:
    if start.algorithm == "NONE":
        return Axis(name="speculation", verdict="off in this launch", tested=False)
    scenarios = [rewidened(Scenario.from_json(one), 1).to_json() for one in found.scenarios]
    seen = probes.seen(plain_decode(start, probes.case.facts.launch), scenarios, code=found.code, sizes=sizes)
    if seen.unknown:
        return Axis(name="speculation", verdict=f"off was not tested: {seen.unknown}", tested=False)
    broken = fired(probes.case, seen)
    return Axis(
        name="speculation",
        verdict=f"off fails too, by {', '.join(broken)}" if broken else "only on: a plain decode of the same is clean",
    )


def _budget(probes: Probes, start: Job, found: Found, sizes: Sequence[int]) -> Axis:
    assert found.seen is not None
    budget, tried, why = found.seen.width - 1, dict[int, bool](), ""
    for fewer in budgets_of(found, budget):
        try:
            narrower = at_budget(start, fewer)
        except UsageError as refused:
            return Axis(name="budget", verdict=f"not tested: {str(refused).partition(': ')[2]}", tested=False)
        scenarios = [rewidened(Scenario.from_json(one), fewer + 1).to_json() for one in found.scenarios]
        seen = probes.seen(narrower, scenarios, code=found.code, sizes=sizes)
        if seen.unknown:
            why = why or f"; {fewer} was not tested: {seen.unknown}"
            continue
        tried[fewer] = found.code in fired(probes.case, seen)
        if tried[fewer]:
            break
    fails = next((fewer for fewer, failed in tried.items() if failed), budget)
    passes = [str(fewer) for fewer, failed in tried.items() if not failed]
    clean = f", not at {', '.join(passes)}" if passes else ""
    return Axis(name="budget", verdict=f"fails at {fails} nodes{clean}; the launch has {budget}{why}")


def budgets_of(found: Found, budget: int) -> tuple[int, ...]:
    """Smaller budgets to try, smallest first: what the reduced trees need at least, and halfway to the launch's."""
    trees = [request["parents"] for one in found.scenarios for batch in one["batches"] for request in batch]
    needed = max(1, *(len(parents) - 1 for parents in trees))
    return tuple(sorted({fewer for fewer in (needed, (needed + budget) // 2) if fewer < budget}))


def plain_decode(start: Job, launch: Launch) -> Job:
    """The start of the same target without speculation, whose role is decode."""
    return replace(
        without_speculation(start, launch), algorithm="NONE", block=None, budget=None, steps=None, multi_layer=False
    )


def rewidened(scenario: Scenario, width: int) -> Scenario:
    """The scenario for another width: trees lose or gain pad rows, and nodes beyond the width."""

    def fitted(request: Request) -> Request:
        tree, nodes = request.tree, min(request.tree.nodes, width)
        fewer = Tree(
            parents=tree.parents[:nodes],
            tokens=tree.tokens[:nodes],
            pads=width - nodes,
            pad_token=tree.pad_token,
        )
        return replace(request, tree=fewer)

    batches: Iterator[Batch] = (Batch(requests=tuple(map(fitted, batch.requests))) for batch in scenario.batches)
    return replace(scenario, batches=tuple(batches))


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes))
