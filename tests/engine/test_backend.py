"""The recording backend: what a runner hands it is kept, run or not run, and replayed."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from ddtree_doctor.engine.backend import RecordingBackend, captures
from ddtree_doctor.engine.seams import MovedSeam

pytestmark = pytest.mark.engine


class Runner:
    """A runner that captures as SGLang's do: one shape at a time, through its backend."""

    def __init__(self, sizes: list[int]) -> None:
        self.sizes, self.ran = sizes, list[int]()
        self.attn_backend = SimpleNamespace(forward_metadata=None)
        self.backend = RecordingBackend(self, enable_memory_saver=False)

    def capture(self) -> None:
        with self.backend.capture_session(None):
            for size in self.sizes:
                self.capture_one_shape(size, None)

    def capture_one_shape(self, size: int, forward: Any) -> None:
        self.attn_backend.forward_metadata = SimpleNamespace(custom_mask=SimpleNamespace(numel=lambda: 10 * size))
        self.backend.capture_one(size, lambda: self.ran.append(size) or f"output {size}", post_warmup_hook=lambda: None)


@pytest.fixture
def run_if(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Any, int], bool]], None]:
    monkeypatch.setattr(captures, "backends", [])
    monkeypatch.setattr(captures, "replayed", [])
    return lambda decide: monkeypatch.setattr(captures, "runs", decide)


def test_every_shape_is_kept_and_only_the_chosen_are_run(run_if: Any):
    run_if(lambda runner, size: size <= 2)
    runner = Runner([8, 4, 2, 1])
    runner.capture()
    assert runner.ran == [2, 1]
    assert {key: taken.ran for key, taken in runner.backend.taken.items()} == {8: False, 4: False, 2: True, 1: True}
    assert captures.backends == [runner.backend]


def test_the_mask_of_each_capture_is_noted_before_the_next_replaces_it(run_if: Any):
    run_if(lambda runner, size: False)
    runner = Runner([3, 2])
    runner.capture()
    assert {key: taken.mask_numel for key, taken in runner.backend.taken.items()} == {3: 30, 2: 20}


def test_a_replay_runs_the_forward_again_over_its_own_buffers(run_if: Any):
    run_if(lambda runner, size: False)
    runner = Runner([2])
    runner.capture()
    assert runner.backend.can_run(None, 2)
    assert not runner.backend.can_run(None, 3)
    with runner.backend.replay_session():
        assert runner.backend.replay(2, None) == "output 2"
    assert (runner.ran, captures.replayed) == ([2], [2])


def test_cleanup_forgets(run_if: Any):
    run_if(lambda runner, size: False)
    runner = Runner([2])
    runner.capture()
    runner.backend.cleanup()
    assert not runner.backend.can_run(None, 2)


def test_a_runner_that_captures_otherwise_is_a_moved_seam(run_if: Any):
    with pytest.raises(MovedSeam, match="capture of one shape"):
        RecordingBackend(SimpleNamespace())
