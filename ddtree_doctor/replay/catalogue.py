"""Which scenarios run for a role: every captured size and sizes between them, shrinking, growing, at every edge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ddtree_doctor.replay.scenario import Batch, Request, Scenario
from ddtree_doctor.replay.shapes import tree_of

__all__ = ["Ground", "catalogue"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What scenarios are made for.

    `width` tokens a request, `sizes` the captured batch sizes, `context` the longest sequence in tokens, `shapes` the
    names of trees (`replay.shapes.TREES`) that the algorithm verifies.
    """

    width: int
    sizes: tuple[int, ...]
    context: int
    vocabulary: int
    page_size: int
    shapes: tuple[str, ...]

    @property
    def longest(self) -> int:
        """The longest prefix that leaves room for the tree."""
        return self.context - self.width


def catalogue(ground: Ground, *, seed: int = 0) -> tuple[Scenario, ...]:
    """The scenarios, each tree shape in at least one of them. Deterministic for a ground and a seed.

    Raises ValueError where the context has no room for a prefix and a tree.
    """
    if ground.longest < 2:
        raise ValueError(f"context {ground.context} has no room for a prefix of 2 and {ground.width} tokens to verify")
    return tuple(_scenarios(_Maker(ground=ground, seed=seed)))


@dataclass(slots=True)
class _Maker:
    """Draws requests: prefixes go through the edges of pages and context in turn, shapes and seeds too."""

    ground: Ground
    seed: int
    drawn: int = 0

    def prefixes(self) -> tuple[int, ...]:
        page, longest = self.ground.page_size, self.ground.longest
        edges = (5, page - 1, page, page + 1, longest, 2, longest // 2)
        return tuple(min(max(edge, 1), longest) for edge in edges)

    def request(self, slot: int, *, shape: str | None = None, prefix: int | None = None) -> Request:
        edges, shapes = self.prefixes(), self.ground.shapes
        chosen = shape or shapes[self.drawn % len(shapes)]
        length = edges[self.drawn % len(edges)] if prefix is None else prefix
        self.drawn += 1
        tree = tree_of(chosen, self.ground.width, self.ground.vocabulary, self.seed + self.drawn)
        return Request(slot=slot, prefix=length, tree=tree)

    def batch(self, size: int, **fixed: object) -> Batch:
        return Batch(requests=tuple(self.request(slot, **fixed) for slot in range(size)))  # type: ignore[arg-type]

    def scenario(self, name: str, batches: Iterable[Batch]) -> Scenario:
        return Scenario(name=name, batches=tuple(batches), page_size=self.ground.page_size)


def _scenarios(maker: _Maker) -> Iterator[Scenario]:
    sizes = sorted(maker.ground.sizes)
    for shape in maker.ground.shapes:
        yield maker.scenario(f"tree/{shape}", [maker.batch(1, shape=shape)])
    if sizes[-1] >= 2:
        yield maker.scenario("tree/two", [_two(maker)])
    for size in sizes:
        yield maker.scenario(f"captured/{size}", [maker.batch(size)])
    for size in _between(sizes):
        yield maker.scenario(f"between/{size}", [maker.batch(size)])
    yield maker.scenario("shrink", _steps(maker, _descent(sizes)))
    yield maker.scenario("grow", _steps(maker, tuple(reversed(_descent(sizes)))))
    if sizes[-1] >= 2:
        yield maker.scenario("finish-in-the-middle", _finish(maker, min(sizes[-1], 3)))
    yield maker.scenario("context-limit", [maker.batch(1, prefix=maker.ground.longest)])
    yield maker.scenario("page-edges", [maker.batch(1, prefix=edge) for edge in _page_edges(maker)])


def _two(maker: _Maker) -> Batch:
    """Two trees of different shapes: what is right for the first request alone shows in the second."""
    shapes = maker.ground.shapes
    return Batch(requests=(maker.request(0, shape=shapes[0]), maker.request(1, shape=shapes[1 % len(shapes)])))


def _between(sizes: Sequence[int]) -> tuple[int, ...]:
    """One size below each captured one that is not captured itself: such a batch is padded."""
    captured = set(sizes)
    return tuple(size - 1 for size in sizes if size > 1 and size - 1 not in captured)


def _descent(sizes: Sequence[int]) -> tuple[int, ...]:
    """Largest, one that is padded, 1 (SGLang #28569: a batch that shrinks from 32 to 12)."""
    largest = sizes[-1]
    middle = next((size for size in reversed(_between(sizes)) if size < largest), max(largest // 2, 1))
    return tuple(dict.fromkeys((largest, middle, 1)))


def _steps(maker: _Maker, sizes: Sequence[int]) -> Iterator[Batch]:
    """Batches of these sizes whose surviving requests grow by an accepted token each time."""
    start = max(1, min(maker.ground.page_size - 1, maker.ground.longest - len(sizes)))
    for step, size in enumerate(sizes):
        yield maker.batch(size, prefix=min(start + step, maker.ground.longest))


def _finish(maker: _Maker, size: int) -> Iterator[Batch]:
    """All requests; all but the middle one, so that rows move up; then the first leaves and another one joins at once.

    The third batch has the size of the second and other requests.
    """
    left = [slot for slot in range(size) if slot != size // 2]
    for step, slots in enumerate((range(size), left, [*left[1:], size])):
        yield Batch(requests=tuple(maker.request(slot, prefix=min(7 + step, maker.ground.longest)) for slot in slots))


def _page_edges(maker: _Maker) -> list[int]:
    """Prefixes that put the first verified token last in a page, first in one, and second."""
    page, longest = maker.ground.page_size, maker.ground.longest
    return sorted({min(max(edge, 1), longest) for edge in (page - 1, page, page + 1)})
