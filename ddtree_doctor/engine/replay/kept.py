"""What a worker keeps after its verify walk, found by content: which row's keys and hidden states lie where.

A row's keys in the last layer depend on its whole path, so that no two rows of a tree have the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from ddtree_doctor.engine import seams
from ddtree_doctor.engine.replay.handed import trees_of
from ddtree_doctor.engine.replay.serving import Round, Serving
from ddtree_doctor.replay.record import Acceptance
from ddtree_doctor.tree.model import Tree
from ddtree_doctor.tree.walk import accept

__all__ = ["Kept", "VerifyReached"]


class VerifyReached(Exception):
    """A round got as far as its verify forward, and that is all that was asked of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verified:
    """One verify forward: its trees, the target's token after each row, and what each row left before any move."""

    trees: Sequence[Tree]
    targets: torch.Tensor
    keys: torch.Tensor
    hidden: torch.Tensor | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    """The KV slots of a request's last verify, and the rows accepted then."""

    name: str
    slots: torch.Tensor
    accepted: tuple[int, ...]


class Kept:
    """A witness of verify forwards and of what is kept after them; with `drafts_only` it ends a round before verify."""

    def __init__(self, serving: Serving, *, drafts_only: bool = False) -> None:
        self.serving = serving
        self.drafts_only = drafts_only
        self._seen: _Verified | None = None
        self._windows: dict[str, _Window] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look at every verify forward of the target's worker in the block."""
        target = self.serving.target
        original = target.forward_batch_generation

        def forward(batch: Any = None, *args: Any, **options: Any) -> Any:
            if not options.get("is_verify"):
                return original(batch, *args, **options)
            if self.drafts_only:
                raise VerifyReached
            source = options.get("forward_batch") or batch
            if not hasattr(source.spec_info, "draft_token"):
                # UNO's blocks, drafted by the target itself.
                return original(batch, *args, **options)
            trees = trees_of(source.spec_info, self.serving.committed, self.serving.runner.attn_backend)
            result = original(batch, *args, **options)
            self._seen = self._verified(trees, source.out_cache_loc, result.logits_output)
            return result

        target.forward_batch_generation = forward
        try:
            yield
        finally:
            del target.forward_batch_generation

    def acceptances(self, done: Round, scenario: str) -> Iterator[Acceptance]:
        """For each request of the round what was accepted and what is kept. Nothing where no verify was seen."""
        seen, self._seen = self._seen, None
        if seen is None:
            return
        width = seen.trees[0].width
        for at, tree in enumerate(seen.trees):
            rows = slice(at * width, (at + 1) * width)
            count = len(done.won[at])
            slots = self.serving.slots(at, done.before[at], done.before[at] + width)
            hidden = done.result.logits_output.hidden_states
            accepted = accept(tree, seen.targets[rows].tolist()).rows
            name = f"{scenario}, request {self.serving.requests[at].rid}"
            self._windows[self.serving.requests[at].rid] = _Window(name=name, slots=slots, accepted=accepted)
            yield Acceptance(
                scenario=name,
                accepted=accepted,
                kept_slots=_found(seen.keys[rows], self.keys[slots[:count]], accepted),
                kept_hidden=None
                if seen.hidden is None or hidden is None
                else _found(seen.hidden[rows], hidden[rows][:count], accepted),
                **self._freed(slots, range(count), ()),
            )

    def leaving(self, at: int) -> Iterator[Acceptance]:
        """Let request `at` leave; which of its last verify's slots are free then: all behind the accepted ones."""
        window = self._windows.get(self.serving.requests[at].rid)
        self.serving.leave(at)
        if window is not None:
            rejected = range(len(window.accepted), len(window.slots))
            yield Acceptance(
                scenario=f"{window.name}, when it leaves",
                accepted=window.accepted,
                **self._freed(window.slots, rejected, tuple(rejected)),
            )

    def _freed(self, slots: torch.Tensor, rows: Iterable[int], expected: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
        """Which of the rows' KV slots the engine's allocator has free; nothing where it does not say."""
        allocator = self.serving.allocator
        pages = seams.field(allocator, "free pages")()
        if pages is None:
            return {}
        free = set(pages.tolist())
        found = tuple(row for row in rows if int(slots[row]) // int(allocator.page_size) in free)
        return {"freed_slots": found, "expected_freed": expected}

    @property
    def keys(self) -> torch.Tensor:
        """The last layer's keys by KV slot, [slots, …]."""
        pool = self.serving.runner.token_to_kv_pool
        last = int(getattr(pool, "start_layer", None) or 0) + int(pool.layer_num) - 1
        buffer: torch.Tensor = pool.get_key_buffer(last)
        return buffer

    def _verified(self, trees: Sequence[Tree], slots: torch.Tensor, output: Any) -> _Verified:
        hidden = output.hidden_states
        return _Verified(
            trees=trees,
            targets=output.next_token_logits.argmax(dim=-1),
            keys=self.keys[slots].clone(),
            hidden=None if hidden is None else hidden.clone(),
        )


def _found(rows: torch.Tensor, kept: torch.Tensor, expected: Sequence[int]) -> tuple[int, ...]:
    """Which of `rows` each of `kept` is, -1 for none; of several the same, the expected one."""
    return tuple(_place(rows, one, expected[at] if at < len(expected) else -1) for at, one in enumerate(kept))


def _place(rows: torch.Tensor, one: torch.Tensor, expected: int) -> int:
    same = (rows == one).flatten(1).all(dim=1).nonzero().flatten().tolist()
    return expected if expected in same else next(iter(same), -1)
