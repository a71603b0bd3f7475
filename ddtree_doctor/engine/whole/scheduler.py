"""The scheduler's process of a whole engine: what the doctor does there before SGLang builds its workers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from ddtree_doctor.engine import host, mutants, ranks, seams

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

__all__ = ["run_scheduler"]


def run_scheduler(
    *arguments: Any, device: str, seed: int, mutant: str, replays: Synchronized[int], **options: Any
) -> None:
    """SGLang's own `run_scheduler_process`, on weights that are spread, under `mutant` ("" for none).

    `device` is `cpu` or `cuda`, `seed` that of the weights; `replays` becomes the number of graphs that were replayed.
    Everything else is SGLang's.
    """
    scheduler = seams.find("scheduler")
    workers = seams.field(scheduler, "start of the workers")

    @wraps(workers)
    def init_model_worker(self: Any, *given: Any, **more: Any) -> Any:
        _loaded(arguments[0])
        _spread(seed)
        mutants.apply(mutant)
        if device == "cpu":
            _on_tape()
        _counted(replays)
        return workers(self, *given, **more)

    setattr(scheduler, workers.__name__, init_model_worker)
    seams.find("scheduler process")(*arguments, **options)


def _loaded(arguments: Any) -> None:
    """Load the modules that the workers are in, so that what is to be replaced in them is there."""
    seams.find("target worker")
    seams.find("decode runner")
    algorithm = seams.find("algorithms").from_string(seams.find("speculation options")().speculative_algorithm)
    if not algorithm.is_none():
        seams.field(algorithm, "algorithm's worker")(arguments)


def _on_tape() -> None:
    """Let graphs be captured on tapes and replayed from them: a CPU has none of its own."""
    from ddtree_doctor.engine.backend import captures
    from ddtree_doctor.engine.replay.tape import Tape

    if seams.older():
        ranks.share_cores(1)
    host.after_import()
    host.graphs_asked_for()
    captures.new_tape = Tape


def _counted(replays: Synchronized[int]) -> None:
    """Count each replay of a graph, of every runner."""
    backend = seams.find("graph backend")
    replay = backend.replay

    @wraps(replay)
    def replay_and_count(*given: Any, **more: Any) -> Any:
        replays.value += 1
        return replay(*given, **more)

    backend.replay = replay_and_count


def _spread(seed: int) -> None:
    """Let every model that is loaded with made-up weights have spread ones, target and draft from the same seed."""
    from ddtree_doctor.engine.replay.weights import spread_weights

    loader = seams.find("made-up weights")
    load: Callable[..., Any] = loader.load_model

    @wraps(load)
    def load_model(*given: Any, **options: Any) -> Any:
        model = load(*given, **options)
        spread_weights(model, seed)
        return model

    loader.load_model = load_model
