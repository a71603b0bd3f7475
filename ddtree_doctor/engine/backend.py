"""The graph backend that records: what SGLang's runners capture, kept instead of frozen into a CUDA graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from ddtree_doctor.engine import seams

__all__ = ["RecordingBackend", "Taken", "captures"]


@dataclass(slots=True)
class Taken:
    """One captured graph: the engine's key, the forward that was to be frozen, and its output if it was run.

    `mask_numel` is the number of elements of the mask that attention was given at capture, None for none: the backend
    keeps one set of metadata, which the next capture replaces. `tape` is the forward as a graph freezes it, where
    captures are taped.
    """

    key: Any
    forward: Callable[[], Any]
    output: Any = None
    ran: bool = False
    mask_numel: int | None = None
    tape: Any = None


@dataclass(slots=True)
class Captures:
    """What this process has captured.

    `backends` in the order in which runners asked for one. `runs` decides whether a shape is really run, given its
    runner and size: where it is not, no Triton kernel runs and no forward, but all is set up and recorded. `new_tape`
    makes what a run is taped on, None for no tape: only a replay needs one. `replayed` holds the keys of replays, in
    order.
    """

    backends: list[RecordingBackend] = field(default_factory=list)
    runs: Callable[[Any, int], bool] = lambda runner, size: True
    new_tape: Callable[[], Any] | None = None
    replayed: list[Any] = field(default_factory=list)


captures = Captures()


class RecordingBackend:
    """Stands where `FullCudaGraphBackend` stands and answers the same calls.

    It has no idea of graphs: `capture_one` keeps the forward, `replay` runs it again over the runner's static buffers.
    """

    def __init__(self, runner: Any, **options: Any) -> None:
        self.runner = runner
        self.taken: dict[Any, Taken] = {}
        self._running = True
        captures.backends.append(self)
        whole = seams.field(runner, "capture of one shape")

        def capture_one_shape(size: int, *args: Any, **kwargs: Any) -> Any:
            with self._run_or_not(captures.runs(runner, size)):
                return whole(size, *args, **kwargs)

        runner.capture_one_shape = capture_one_shape

    @contextmanager
    def capture_session(self, stream: Any) -> Iterator[None]:
        """Nothing to open."""
        yield

    def capture_one(
        self,
        shape_key: Any,
        forward_fn: Callable[[], Any],
        capture_inputs: Any = None,
        post_warmup_hook: Callable[[], None] | None = None,
    ) -> None:
        """Keep the forward of one shape; run it if it is one of those that are to be run."""
        taken = self.taken[shape_key] = Taken(shape_key, forward_fn, mask_numel=_mask_numel(self.runner))
        if self._running:
            taken.tape = captures.new_tape() if captures.new_tape else None
            recording: AbstractContextManager[None] = taken.tape.recording() if taken.tape else nullcontext()
            with recording:
                taken.output = forward_fn()
            taken.ran = True
            if post_warmup_hook is not None:
                post_warmup_hook()

    @contextmanager
    def _run_or_not(self, run: bool) -> Iterator[None]:
        # Not at the top: Triton reads TRITON_INTERPRET when it is imported, so that must be set before.
        from ddtree_doctor.engine.replay.launches import observing_launches

        self._running = run
        with nullcontext() if run else observing_launches(lambda *_: None):
            yield

    def can_run(self, forward_batch: Any, shape_key: Any) -> bool:
        """Whether that shape was captured."""
        return shape_key in self.taken

    @contextmanager
    def replay_session(self) -> Iterator[None]:
        """Nothing to open."""
        yield

    def replay(self, shape_key: Any, static_forward_batch: Any, **kwargs: Any) -> Any:
        """Run the captured forward over what the static buffers hold now: its tape, or itself where it has none."""
        captures.replayed.append(shape_key)
        taken = self.taken[shape_key]
        if taken.tape is None:
            return taken.forward()
        taken.tape.replay()
        return taken.output

    def cleanup(self) -> None:
        """Drop what was captured."""
        self.taken.clear()


def _mask_numel(runner: Any) -> int | None:
    backend = getattr(runner, "attn_backend", None)
    # Under two-batch overlap SGLang wraps the backend that holds the metadata of the whole batch.
    metadata = getattr(getattr(backend, "primary", backend), "forward_metadata", None)
    mask = getattr(metadata, "custom_mask", None)
    return None if mask is None else int(mask.numel())
