"""The graph backend that records: what SGLang's runners capture, kept instead of frozen into a CUDA graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

__all__ = ["RecordingBackend", "Taken", "captures"]


@dataclass(slots=True)
class Taken:
    """One captured graph: the engine's key, the forward that was to be frozen, and its output if it was run.

    `mask_numel` is the number of elements of the mask that attention was given at capture, None for none: the backend
    keeps one set of metadata, which the next capture replaces.
    """

    key: Any
    forward: Callable[[], Any]
    output: Any = None
    ran: bool = False
    mask_numel: int | None = None


@dataclass(slots=True)
class Captures:
    """What this process has captured.

    `backends` in the order in which runners asked for one. `runs` decides whether a forward is really run, given its
    runner and key: the shape tier needs few of them.
    """

    backends: list[RecordingBackend] = field(default_factory=list)
    runs: Callable[[Any, Any], bool] = lambda runner, key: True


captures = Captures()


class RecordingBackend:
    """Stands where `FullCudaGraphBackend` stands and answers the same calls.

    It has no idea of graphs: `capture_one` keeps the forward, `replay` runs it again over the runner's static buffers.
    """

    def __init__(self, runner: Any, **options: Any) -> None:
        self.runner = runner
        self.taken: dict[Any, Taken] = {}
        captures.backends.append(self)

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
        if captures.runs(self.runner, shape_key):
            taken.output = forward_fn()
            taken.ran = True
            if post_warmup_hook is not None:
                post_warmup_hook()

    def can_run(self, forward_batch: Any, shape_key: Any) -> bool:
        """Whether that shape was captured."""
        return shape_key in self.taken

    @contextmanager
    def replay_session(self) -> Iterator[None]:
        """Nothing to open."""
        yield

    def replay(self, shape_key: Any, static_forward_batch: Any, **kwargs: Any) -> Any:
        """Run the captured forward over what the static buffers hold now."""
        return self.taken[shape_key].forward()

    def cleanup(self) -> None:
        """Drop what was captured."""
        self.taken.clear()


def _mask_numel(runner: Any) -> int | None:
    metadata = getattr(getattr(runner, "attn_backend", None), "forward_metadata", None)
    mask = getattr(metadata, "custom_mask", None)
    return None if mask is None else int(mask.numel())
