"""What happens in the scheduler's process before SGLang builds its workers, on a scheduler that only takes notes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ddtree_doctor.engine import host, seams
from ddtree_doctor.engine.replay import weights
from ddtree_doctor.engine.whole import scheduler as doctored
from ddtree_doctor.engine.whole.scheduler import run_scheduler


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch):
    """An engine whose scheduler loads a model and replays twice; `notes` has what happened, in order."""
    notes: list[object] = []

    class Loader:
        def load_model(self):
            notes.append("loaded")
            return "model"

    class Backend:
        def replay(self, key):
            return f"replayed {key}"

    class Scheduler:
        def init_model_worker(self):
            notes.append(Loader().load_model())
            notes.extend(Backend().replay(key) for key in (1, 2))

    def process(*arguments, **options):
        notes.append((arguments, options))
        Scheduler().init_model_worker()

    reaches = {
        "scheduler": Scheduler,
        "scheduler process": process,
        "made-up weights": Loader,
        "graph backend": Backend,
        "algorithms": SimpleNamespace(from_string=lambda name: SimpleNamespace(is_none=lambda: True)),
        "speculation options": lambda: SimpleNamespace(speculative_algorithm=None),
    }
    monkeypatch.setattr(seams, "find", lambda name: reaches.get(name))
    monkeypatch.setattr(seams, "older", lambda: False)
    monkeypatch.setattr(weights, "spread_weights", lambda model, seed: notes.append(f"spread {model} by {seed}"))
    monkeypatch.setattr(doctored.mutants, "apply", lambda path: notes.append(f"mutant {path!r}"))
    for name in ("after_import", "graphs_asked_for"):
        monkeypatch.setattr(host, name, lambda name=name: notes.append(name))
    return notes


def test_weights_are_spread_when_loaded_and_each_replay_is_counted(engine):
    replays = SimpleNamespace(value=0)
    run_scheduler("arguments", device="cuda", seed=3, mutant="m.py", replays=replays, dp_rank=None)
    assert engine == [
        (("arguments",), {"dp_rank": None}),
        "mutant 'm.py'",
        "loaded",
        "spread model by 3",
        "model",
        "replayed 1",
        "replayed 2",
    ]
    assert replays.value == 2


def test_on_a_cpu_graphs_are_tapes_once_the_fault_is_in(engine, monkeypatch: pytest.MonkeyPatch):
    from ddtree_doctor.engine.backend import captures

    monkeypatch.setattr(captures, "new_tape", None)
    run_scheduler("arguments", device="cpu", seed=0, mutant="", replays=SimpleNamespace(value=0))
    assert [note for note in engine if note in ("mutant ''", "after_import", "graphs_asked_for", "loaded")] == [
        "mutant ''",
        "after_import",
        "graphs_asked_for",
        "loaded",
    ]
    assert captures.new_tape is not None
