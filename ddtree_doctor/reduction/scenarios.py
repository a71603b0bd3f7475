"""A failing sequence of scenarios made smaller, axis by axis: scenarios, batches, requests, prefixes, tree nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ddtree_doctor.reduction.ddmin import ddmin, smallest
from ddtree_doctor.replay.scenario import Batch, Request, Scenario
from ddtree_doctor.tree.model import Tree

__all__ = ["Scenarios", "narrowed", "pruned", "reduced", "size"]

Scenarios = tuple[Scenario, ...]
Place = tuple[int, int, int]
"""Scenario, batch and request of it, counted from 0."""


def reduced(
    scenarios: Sequence[Scenario],
    fails: Callable[[Scenarios], bool],
    *,
    suspects: Sequence[str] = (),
    whole_trees: bool = False,
) -> Scenarios:
    """Scenarios no larger than these that fail, and of which no scenario, batch, request or node can be left out.

    `suspects` are the names of those that are tried alone first. `whole_trees` leaves trees as they are, for algorithms
    that verify nothing but a full chain. Raises DidNotFail where the scenarios do not fail.
    """
    asking = _Asking(fails)
    alone = sorted(((one,) for one in scenarios if one.name in suspects), key=size)
    found = next(filter(asking, alone), None) or ddmin(tuple(scenarios), asking)
    while True:
        before = found
        found = _requests(_batches(found, asking), asking)
        for smaller in (_shortest,) if whole_trees else (_shortest, _thinnest):
            for place, _ in _placed(found):
                found = smaller(found, place, asking)
        if found == before:
            return found


def size(scenarios: Scenarios) -> tuple[int, int, int, int]:
    """What is made smaller: scenarios, requests of all batches, drafted nodes, committed tokens."""
    requests = [request for _, request in _placed(scenarios)]
    return (
        len(scenarios),
        len(requests),
        sum(request.tree.drafted for request in requests),
        sum(request.prefix for request in requests),
    )


@dataclass(slots=True)
class _Asking:
    """`fails`, asked once for each case; what is no scenario at all does not fail."""

    fails: Callable[[Scenarios], bool]
    known: dict[Scenarios, bool] = field(default_factory=dict)

    def __call__(self, scenarios: Scenarios) -> bool:
        if scenarios not in self.known:
            self.known[scenarios] = self.fails(scenarios)
        return self.known[scenarios]

    def made(self, make: Callable[[], Scenarios]) -> bool:
        """Whether what `make` gives fails; not where the parts fit together no more."""
        try:
            scenarios = make()
        except ValueError:
            return False
        return bool(scenarios) and self(scenarios)


def _placed(scenarios: Scenarios) -> Iterator[tuple[Place, Request]]:
    for at, scenario in enumerate(scenarios):
        for step, batch in enumerate(scenario.batches):
            for row, request in enumerate(batch.requests):
                yield (at, step, row), request


def narrowed(scenarios: Scenarios, kept: Iterable[Place]) -> Scenarios:
    """The same with these requests alone; batches and scenarios that lose all of theirs go.

    Raises ValueError where what is left is no scenario: a request would lose committed tokens between two batches.
    """
    places = set(kept)
    found = []
    for at, scenario in enumerate(scenarios):
        batches = []
        for step, batch in enumerate(scenario.batches):
            requests = tuple(one for row, one in enumerate(batch.requests) if (at, step, row) in places)
            batches += [Batch(requests=requests)] if requests else []
        found += [replace(scenario, batches=tuple(batches))] if batches else []
    return tuple(found)


def _batches(scenarios: Scenarios, fails: _Asking) -> Scenarios:
    """Without the batches that are not needed."""
    batches = sorted({place[:2] for place, _ in _placed(scenarios)})

    def only(kept: tuple[tuple[int, int], ...]) -> Scenarios:
        return narrowed(scenarios, [place for place, _ in _placed(scenarios) if place[:2] in kept])

    return only(ddmin(batches, lambda kept: fails.made(lambda: only(kept))))


def _requests(scenarios: Scenarios, fails: _Asking) -> Scenarios:
    """Without the requests that are not needed."""
    places = [place for place, _ in _placed(scenarios)]
    return narrowed(scenarios, ddmin(places, lambda kept: fails.made(lambda: narrowed(scenarios, kept))))


def _shortest(scenarios: Scenarios, place: Place, fails: _Asking) -> Scenarios:
    """With the fewest committed tokens of one request."""
    request = _at(scenarios, place)

    def of(length: int) -> Scenarios:
        return _with(scenarios, place, replace(request, prefix=length))

    return of(smallest(1, request.prefix, lambda length: fails.made(lambda: of(length))))


def _thinnest(scenarios: Scenarios, place: Place, fails: _Asking) -> Scenarios:
    """With the fewest nodes of one request's tree; pad rows stand where others were."""
    request = _at(scenarios, place)

    def of(kept: Sequence[int]) -> Scenarios:
        return _with(scenarios, place, replace(request, tree=pruned(request.tree, kept)))

    if request.tree.drafted == 0 or fails(of(())):
        return of(())
    return of(ddmin(range(1, request.tree.nodes), lambda kept: fails(of(kept))))


def pruned(tree: Tree, kept: Sequence[int]) -> Tree:
    """The tree with the root and these nodes alone, in as many rows; a node hangs below its nearest ancestor kept."""
    rows = [0, *sorted(set(kept) - {0})]
    place = {old: new for new, old in enumerate(rows)}

    def parent(row: int) -> int:
        above = tree.parents[row]
        while above not in place:
            above = tree.parents[above]
        return place[above]

    return Tree(
        parents=(-1, *(parent(row) for row in rows[1:])),
        tokens=tuple(tree.tokens[row] for row in rows),
        pads=tree.width - len(rows),
        pad_token=tree.pad_token,
    )


def _at(scenarios: Scenarios, place: Place) -> Request:
    at, step, row = place
    return scenarios[at].batches[step].requests[row]


def _with(scenarios: Scenarios, place: Place, request: Request) -> Scenarios:
    """The same with another request in a place."""
    at, step, row = place
    scenario = scenarios[at]
    requests = scenario.batches[step].requests
    batch = Batch(requests=(*requests[:row], request, *requests[row + 1 :]))
    batches = (*scenario.batches[:step], batch, *scenario.batches[step + 1 :])
    return (*scenarios[:at], replace(scenario, batches=batches), *scenarios[at + 1 :])
