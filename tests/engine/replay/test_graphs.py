"""What can be said of a runner's graphs without a GPU: which of its tensors moved, and in which order it captures."""

from __future__ import annotations

import inspect

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.engine.replay import graphs
from ddtree_doctor.engine.replay.gpu_job import VARIANTS
from ddtree_doctor.engine.replay.graphs import moved

places = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3))


@given(places, places)
def test_what_lies_elsewhere_has_moved_and_what_is_gone_or_new_has_not(before: dict[str, int], after: dict[str, int]):
    found = moved(before, after)
    assert list(found) == sorted(found)
    assert all(before[name] != after[name] for name in found)
    assert moved(before, before) == ()


def test_every_round_that_a_job_asks_for_is_there():
    assert set(VARIANTS) == set(graphs.VARIANTS)


class Backend:
    _pool = "shared"

    def __init__(self, seen: list[object]) -> None:
        self.seen = seen

    def cleanup(self) -> None:
        self.seen.append("cleanup")
        self._pool = None


class Runner:
    """Captures as SGLang does: in the reverse of its list, into its backend's pool."""

    def __init__(self) -> None:
        self.seen: list[object] = []
        self.capture_bs = [1, 2, 4]
        self.backend = Backend(self.seen)

    def capture(self) -> None:
        self.seen.append((list(reversed(self.capture_bs)), self.backend._pool))


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Runner:
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: (0, 7))
    monkeypatch.setattr(graphs.seams, "find", lambda name: lambda: torch.no_grad())
    return Runner()


def test_ascending_captures_the_smallest_first_and_leaves_the_list_as_it_was(runner: Runner):
    graphs.VARIANTS["ascending"](runner, None)
    assert runner.seen == ["cleanup", ([1, 2, 4], None)]
    assert runner.capture_bs == [1, 2, 4]


def test_an_own_pool_is_there_before_capture_begins(runner: Runner):
    graphs.VARIANTS["own pool"](runner, None)
    assert runner.seen == ["cleanup", ([4, 2, 1], (0, 7))]


def test_liveness_is_checked_where_torch_can(monkeypatch: pytest.MonkeyPatch):
    class Graph:
        def __init__(self, pool: object = None, check_input_liveness: bool = False) -> None:
            self.checked = check_input_liveness

    monkeypatch.setattr(torch.cuda, "graph", Graph)
    assert graphs.check_liveness()
    assert torch.cuda.graph(pool=None).checked


def test_an_older_torch_has_no_such_check(monkeypatch: pytest.MonkeyPatch):
    class Graph:
        def __init__(self, pool: object = None) -> None: ...

    monkeypatch.setattr(torch.cuda, "graph", Graph)
    before = inspect.signature(Graph.__init__)
    assert not graphs.check_liveness()
    assert inspect.signature(torch.cuda.graph.__init__) == before


def test_guarded_intermediates_tell_the_guard_which_graph_is_captured_and_replayed(runner: Runner):
    class Guard:
        replayed: object = None

        def capturing(self, graph: object) -> object:
            runner.seen.append(("guarded", graph))
            return torch.no_grad()

    guard = Guard()
    runner.backend.capture_one = lambda key, forward: runner.seen.append(("captured", key))
    runner.backend.replay = lambda key, batch: ("output", key)
    graphs.VARIANTS["guarded intermediates"](runner, guard)
    runner.backend.capture_one(4, None)
    assert runner.seen[-2:] == [("guarded", 4), ("captured", 4)]
    assert runner.backend.replay(2, None) == ("output", 2)
    assert guard.replayed == 2
