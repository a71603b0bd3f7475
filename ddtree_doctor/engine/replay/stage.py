"""A stage for scenarios: started workers, prefixes in the KV cache, and forwards eager, replayed and plain.

Works on any device: on the CPU the graph is a tape, on a GPU SGLang's own CUDA graph.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from ddtree_doctor.engine import seams
from ddtree_doctor.engine.replay.batches import Extend, Verify, extend_batch, verify_batch
from ddtree_doctor.engine.replay.slots import Slots
from ddtree_doctor.replay.scenario import Batch

__all__ = ["Replayed", "Stage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """One pass through the graph, or eager where admission refused it: `hit` tells.

    `rows` are logits, `vocabulary` columns of them, and the key that each row left in its KV slot (`Stage.eager`).
    """

    rows: torch.Tensor
    vocabulary: int
    hit: bool
    captured_bs: int | None = None
    key: str = ""

    @property
    def logits(self) -> torch.Tensor:
        """The logits alone."""
        return self.rows[:, : self.vocabulary]


class Stage:
    """The target worker's model runner and its graph runner, and the requests on them."""

    def __init__(self, model_runner: Any, graph_runner: Any, *, page_size: int, vocabulary: int, seed: int = 0) -> None:
        self.runner = model_runner
        self.graphs = graph_runner
        self.vocabulary = vocabulary
        table = seams.field(model_runner, "request pool").req_to_token
        self.slots = Slots(table, int(model_runner.token_to_kv_pool_allocator.size), page_size, seed)
        self.seed = seed
        self.committed: dict[int, int] = {}

    @property
    def rows(self) -> int:
        """Requests that fit the engine's table at once."""
        return int(self.slots.table.shape[0]) - 1

    @property
    def first_layer(self) -> int:
        """The first layer whose keys this rank's cache holds."""
        return int(getattr(self.runner.token_to_kv_pool, "start_layer", None) or 0)

    @property
    def keys(self) -> torch.Tensor:
        """The first layer's keys by KV slot, [slots, …]."""
        buffer: torch.Tensor = self.runner.token_to_kv_pool.get_key_buffer(self.first_layer)
        return buffer

    def victim(self) -> tuple[int, int]:
        """A KV slot that holds a committed token, and the row of its request: what a stale write would destroy."""
        slot = next(iter(self.committed))
        return int(self.slots.of(slot, 1)[0]), self.slots.row(slot)

    def text(self, slot: int, length: int) -> tuple[int, ...]:
        """The first `length` tokens of a request: fixed for a slot, whatever the length."""
        chance = random.Random(f"{self.seed}/{slot}")
        return tuple(chance.randrange(self.vocabulary) for _ in range(length))

    def verify(self, batch: Batch) -> Verify:
        """Bring every request's prefix into the KV cache, and make the verify inputs of the batch."""
        waiting = [request for request in batch.requests if self.committed.get(request.slot, 0) < request.prefix]
        if waiting:
            self._commit([(request.slot, request.prefix) for request in waiting])
        slots = [
            self.slots.of(request.slot, request.prefix + batch.width)[request.prefix :] for request in batch.requests
        ]
        return Verify.of(batch, [self.slots.row(request.slot) for request in batch.requests], slots, self.runner.device)

    def clear(self) -> None:
        """Forget every request."""
        for slot in list(self.slots.pages):
            self.slots.release(slot)
        self.committed.clear()

    def eager(self, verify: Verify) -> torch.Tensor:
        """Logits of a forward without a graph and, beside them, the key that each row left in its KV slot.

        [rows, vocabulary + key], float32. The keys are what the next pass reads of the rows that are accepted.
        """
        with _without_graphs(self.runner):
            return self._rows(self._forward(verify), verify)

    def replay(self, verify: Verify) -> Replayed:
        """The same through the graph, where admission takes it."""
        out = self._forward(verify)
        rows = self._rows(out, verify)
        if not out.can_run_graph:
            return Replayed(rows=rows, vocabulary=self.vocabulary, hit=False)
        size = int(self.graphs.bs)
        key = str(getattr(self.graphs, "_replay_graph_key", size))
        return Replayed(rows=rows, vocabulary=self.vocabulary, hit=True, captured_bs=size, key=key)

    def plain(
        self, paths: Sequence[tuple[int, tuple[int, ...]]], *, together: int, from_cache: bool = False
    ) -> list[torch.Tensor]:
        """Rows, as `eager` gives them, of a plain extend over prefix and path, for each (slot, path tokens).

        The rows of the path alone are given. Each path is computed in a request of its own, `together` of them in one
        forward: from its first token on, or,
        `from_cache`, in two forwards of which the second reads the prefix from the cache.
        """
        found: list[torch.Tensor] = []
        for at in range(0, len(paths), together):
            found += self._plain(paths[at : at + together], from_cache)
        return found

    def _plain(self, paths: Sequence[tuple[int, tuple[int, ...]]], from_cache: bool) -> list[torch.Tensor]:
        rows = self._scratch_rows(len(paths))
        whole = [self._extend_of(row, *path) for row, path in zip(rows, paths, strict=True)]
        lengths = [len(path) for _, path in paths]
        if from_cache:
            prefixes = [one.until(len(one.tokens) - length) for one, length in zip(whole, lengths, strict=True)]
            self._extend(prefixes)
            whole = [one.after(len(one.tokens) - length) for one, length in zip(whole, lengths, strict=True)]
        hidden = self._final_hidden(whole)
        for row in rows:
            self.slots.release(row)
        split = torch.split(hidden, [len(one.tokens) for one in whole])
        ends = [one.slots[-length:] for one, length in zip(whole, lengths, strict=True)]
        return [self._beside(self._head(rows[-len(slots) :]), slots) for rows, slots in zip(split, ends, strict=True)]

    def _extend_of(self, scratch: int, slot: int, path: tuple[int, ...]) -> Extend:
        """The whole text of a request with a path behind it, in a scratch row."""
        tokens = self.text(slot, self.committed[slot]) + path
        return Extend(row=self.slots.row(scratch), prefix=0, tokens=tokens, slots=self.slots.of(scratch, len(tokens)))

    def _scratch_rows(self, count: int) -> list[int]:
        """Slots whose rows in the table no request of the scenario holds."""
        taken = set(self.slots.pages)
        free = [slot for slot in range(-1, self.rows) if slot not in taken]
        if len(free) < count:
            raise MemoryError(f"request table: {count} rows are needed beside the scenario's, {len(free)} are free")
        return free[-count:]

    def _commit(self, requests: Sequence[tuple[int, int]]) -> None:
        """Extend each request to its length from what is in the cache."""
        extends = []
        for slot, length in requests:
            before = self.committed.get(slot, 0)
            slots = self.slots.of(slot, length)
            tokens = self.text(slot, length)[before:]
            extends.append(Extend(row=self.slots.row(slot), prefix=before, tokens=tokens, slots=slots[before:]))
            self.committed[slot] = length
        self._extend(extends)

    def _extend(self, extends: Sequence[Extend]) -> None:
        self.runner.forward(extend_batch(self.runner, extends))

    def _final_hidden(self, extends: Sequence[Extend]) -> torch.Tensor:
        """What the model hands to its logits processor, [tokens, hidden]: the processor keeps only each last token's.

        The hidden states that a batch can ask for are no substitute: a target with a drafter hands out others.
        """
        seen: list[torch.Tensor] = []
        hook = self.runner.model.logits_processor.register_forward_pre_hook(lambda _, args: seen.append(args[1]))
        try:
            self._extend(extends)
        finally:
            hook.remove()
        return seen[0]

    def _head(self, hidden: torch.Tensor) -> torch.Tensor:
        """Logits of final hidden states by the model's own output head."""
        weight = self.runner.model.lm_head.weight
        return torch.matmul(hidden, weight.T.to(hidden.dtype)).float()[:, : self.vocabulary]

    def _forward(self, verify: Verify) -> Any:
        """A verify forward over blank KV slots: what it does not write there shows."""
        self.keys[verify.slots] = 0
        return self.runner.forward(verify_batch(self.runner, verify))

    def _rows(self, out: Any, verify: Verify) -> torch.Tensor:
        return self._beside(out.logits_output.next_token_logits[:, : self.vocabulary].float(), verify.slots)

    def _beside(self, logits: torch.Tensor, slots: torch.Tensor) -> torch.Tensor:
        """Logits with the keys at `slots` to their right; where there are more logits than slots, NaN."""
        keys = self.keys[slots].flatten(1).float()[: len(logits)]
        missing = keys.new_full((len(logits) - len(keys), keys.shape[1]), float("nan"))
        return torch.cat([logits, torch.cat([keys, missing])], dim=1)


@contextmanager
def _without_graphs(runner: Any) -> Iterator[None]:
    before = runner.decode_cuda_graph_runner
    runner.decode_cuda_graph_runner = None
    try:
        yield
    finally:
        runner.decode_cuda_graph_runner = before
