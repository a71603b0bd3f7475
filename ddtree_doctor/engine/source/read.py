"""The engine's facts, put together from its source or taken from the cache."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ddtree_doctor.engine.plugins import plugin_named
from ddtree_doctor.engine.source.cache import Cache
from ddtree_doctor.engine.source.locate import PACKAGE, locate
from ddtree_doctor.engine.source.tree import SourceTree
from ddtree_doctor.facts.model import Engine

__all__ = ["read_engine", "read_source", "with_plugins"]


def read_engine(root: Path | None = None, plugins: Sequence[str] = ()) -> Engine:
    """The engine installed here, or the one whose source lies in `root`, with what `plugins` add to it.

    No engine, a broken one and one of an unknown layout are normal states (`Engine.unknown`, `Engine.layout`). Raises
    UsageError for a plugin that there is none of, and for a `root` that holds no engine.
    """
    for name in plugins:
        plugin_named(name)
    return with_plugins(_read(root), plugins)


def with_plugins(engine: Engine, plugins: Sequence[str]) -> Engine:
    """`engine` with the algorithms and options of `plugins`. Raises UsageError for a plugin that there is none of."""
    chosen = [plugin_named(name) for name in plugins]
    return replace(
        engine,
        plugins=tuple(dict.fromkeys(name for plugin in chosen for name in plugin.algorithms)),
        options=engine.options + tuple(option for plugin in chosen for option in plugin.options),
    )


def _read(root: Path | None) -> Engine:
    package = locate(root)
    if package is None:
        return Engine(unknown=f"{PACKAGE} is not installed in this environment")
    cache = Cache(package)
    known = cache.load()
    if known is not None:
        return known
    tree = SourceTree(package)
    with _collector_paused():
        engine = read_source(tree)
    cache.store(engine, tree.stamps)
    return engine


def read_source(tree: SourceTree) -> Engine:
    """The facts of the engine in `tree`, read anew."""
    from ddtree_doctor.engine.source.fork import fork_reasons
    from ddtree_doctor.engine.source.locate import describe
    from ddtree_doctor.engine.source.masks import read_masks
    from ddtree_doctor.engine.source.options import read_options
    from ddtree_doctor.engine.source.seams import read_seams
    from ddtree_doctor.engine.source.sizing import algorithms, find_runner, layout_of
    from ddtree_doctor.engine.source.traits import read_traits

    distribution = describe(tree)
    runner = find_runner(tree)
    layout = layout_of(tree, runner)
    engine = Engine(
        version=distribution.version,
        root=str(tree.root),
        layout=layout.name if layout else "",
        algorithms=algorithms(tree),
        options=read_options(tree),
        pins=distribution.pins,
        seams=read_seams(tree),
        mask_references=read_masks(tree),
        traits=read_traits(tree, runner, layout),
        digest=_digest(tree),
        unknown=_broken(tree),
    )
    reasons = fork_reasons(tree, distribution)
    return replace(engine, fork=bool(reasons), traits={**engine.traits, "fork_reasons": reasons})


@contextmanager
def _collector_paused() -> Iterator[None]:
    """No garbage collection meanwhile: syntax trees are millions of objects and none is garbage; it halves the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _digest(tree: SourceTree) -> str:
    """One digest of all source files that were read, independent of where they lie."""
    lines = (f"{path}\0{stamp.digest}\n" for path, stamp in sorted(tree.stamps.items()) if path.endswith(".py"))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _broken(tree: SourceTree) -> str:
    if not tree.broken:
        return ""
    return f"its source cannot be parsed: {'; '.join(sorted(tree.broken.values())[:3])}"
