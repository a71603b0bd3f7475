"""Draft graphs in a worker's own rounds: each call is replayed over poisoned buffers, then run eager, and compared.

The worker builds the inputs itself, from requests that are being served; here its call of a graph is taken in between.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from ddtree_doctor.engine import seams
from ddtree_doctor.engine.replay.compare import gap, noise
from ddtree_doctor.engine.replay.poison import Poison
from ddtree_doctor.engine.replay.serving import Serving
from ddtree_doctor.engine.replay.suite import Watch
from ddtree_doctor.replay.record import EPSILON, Access, Pass

__all__ = ["DraftRole", "draft_roles"]


@dataclass(slots=True)
class DraftRole:
    """One draft graph runner and what its calls were seen to do. `scenario` is what is being served."""

    role: str
    graphs: Any
    serving: Serving
    watch: Watch
    dtype: str
    longest: int
    scenario: str = ""
    passes: list[Pass] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    launches: int = 0
    spread: float = 0.0

    @property
    def runner(self) -> Any:
        """The draft's model runner."""
        return seams.field(self.graphs, "model runner")

    def compare(
        self, batch: Any, replay: Callable[[Any], Any], eager: Callable[[Any], Any], rows: Callable[[Any], Any]
    ) -> Any:
        """What `replay` gives of the batch, once it was held against what `eager` gives of its like.

        `rows` makes [requests, …] of what either gives; beside them stand the keys that the forward leaves in the KV
        slots of its batch. The noise is what one rounding of the floating inputs comes to at the other end.
        """
        others = _fresh(batch), _nudged(_fresh(batch), self.dtype)

        def seen(run: Callable[[Any], Any], of: Any) -> tuple[Any, torch.Tensor]:
            given = run(of)
            made = rows(given).float()
            return given, torch.cat([made, self._keys(batch, len(made))], dim=1).clone()

        self._poison()
        before, launches = self._committed(), self.watch.launches
        with self.watch.watching():
            given, replayed = seen(replay, batch)
            given = _kept(given)
            if not torch.equal(before, self._committed()):
                self.accesses.append(_overwritten(self.scenario))
            _, trusted = seen(eager, others[0])
            self.spread = max(self.spread, noise(trusted, seen(eager, others[1])[1], self.dtype))
        self.launches += self.watch.launches - launches
        self.accesses += self.watch.found(self.scenario)
        size = int(self.graphs.bs)
        self._note(
            hit=True,
            captured_bs=size,
            key=str(getattr(self.graphs, "_replay_graph_key", size)),
            replay=gap(trusted, replayed, spread=self.spread, dtype=self.dtype),
        )
        return given

    def eager(self) -> None:
        """Note a call that ran without its graph."""
        self._note()

    def _note(self, **seen: Any) -> None:
        step = sum(one.scenario == self.scenario for one in self.passes)
        self.passes.append(Pass(scenario=self.scenario, step=step, bs=len(self.serving.requests), **seen))

    def _keys(self, batch: Any, requests: int) -> torch.Tensor:
        """The last layer's keys in the KV slots of the batch, [requests, …]; none where a draft writes none."""
        if batch.out_cache_loc is None:
            return torch.empty(requests, 0)
        pool = self.runner.token_to_kv_pool
        last = int(getattr(pool, "start_layer", None) or 0) + int(pool.layer_num) - 1
        keys: torch.Tensor = pool.get_key_buffer(last)[batch.out_cache_loc]
        return keys.float().reshape(requests, -1)

    def _committed(self) -> torch.Tensor:
        """A copy of the draft's first keys at every committed position of every request."""
        pool = self.runner.token_to_kv_pool
        slots = [self.serving.slots(at, 0, count) for at, count in enumerate(self.serving.committed)]
        keys: torch.Tensor = pool.get_key_buffer(int(getattr(pool, "start_layer", None) or 0))
        return keys[torch.cat(slots)].clone()

    def _poison(self) -> None:
        vocabulary = int(self.serving.runner.model_config.vocab_size)
        victim = self.serving.requests[0].kv.req_pool_idx
        Poison(self.graphs, vocabulary=vocabulary, longest=self.longest).spill(
            victim_slot=int(self.serving.slots(0, 0, 1)[0]), victim_row=int(victim), turn=len(self.passes) % 2
        )


def draft_roles(serving: Serving, watch: Callable[[], Watch], *, dtype: str, longest: int) -> list[DraftRole]:
    """The draft graphs of the worker, each with its call taken in between; none where it has none that is known."""

    def role(name: str, graphs: Any) -> DraftRole:
        return DraftRole(role=name, graphs=graphs, serving=serving, watch=watch(), dtype=dtype, longest=longest)

    found = []
    drafting = getattr(serving.worker, "draft_worker", None)
    if (graphs := getattr(drafting, "cuda_graph_runner", None)) is not None and hasattr(drafting, "draft_forward"):
        found.append(_between_steps(role("draft", graphs), drafting))
    if (graphs := getattr(drafting, "cuda_graph_runner_for_draft_extend", None)) is not None and hasattr(
        graphs, "execute"
    ):
        found.append(_between_extends(role("draft_extend", graphs), drafting))
    block = getattr(serving.worker, "draft_model_runner", None)
    if (graphs := getattr(block, "decode_cuda_graph_runner", None)) is not None:
        found.append(_between_blocks(role("draft", graphs), block))
    return found


def _between_steps(role: DraftRole, drafting: Any) -> DraftRole:
    """EAGLE's draft: one graph holds all steps; its output is the tree's parents, scores and tokens."""
    execute, steps = role.graphs.execute, drafting.draft_forward
    # FROZEN_KV_MTP, whose drafts write no keys, sees to its metadata itself.
    prepares = hasattr(drafting, "_init_frozen_kv_metadata")

    def eager(batch: Any) -> Any:
        if not prepares:
            drafting.draft_attn_backend.init_forward_metadata(batch)
            batch.mark_forward_metadata_ready()
        return steps(batch)

    def replayed(batch: Any) -> Any:
        return role.compare(batch, execute, eager, _tree_rows)

    def stepped(batch: Any) -> Any:
        if not batch.forward_mode.is_idle():
            role.eager()
        return steps(batch)

    role.graphs.execute, drafting.draft_forward = replayed, stepped
    return role


def _between_extends(role: DraftRole, drafting: Any) -> DraftRole:
    """EAGLE's draft extend after verify: logits and hidden states of each request's last accepted row."""
    execute, runner = role.graphs.execute, drafting.draft_runner
    forward = runner.forward
    # STANDALONE's draft reads no hidden states: its graph hands some out all the same, its eager forward none.
    hidden = not runner.spec_algorithm.is_standalone()

    def replayed(batch: Any, select: torch.Tensor) -> Any:
        def eager(other: Any) -> Any:
            runner.attn_backend.init_forward_metadata(other)
            other.mark_forward_metadata_ready()
            return _selected(forward(other).logits_output, select)

        return role.compare(
            batch, lambda batch: execute(batch, select), eager, lambda output: _output_rows(output, hidden)
        )

    def forwarded(batch: Any, *args: Any, **options: Any) -> Any:
        if batch.forward_mode.is_draft_extend_v2():
            role.eager()
        return forward(batch, *args, **options)

    role.graphs.execute, runner.forward = replayed, forwarded
    return role


def _between_blocks(role: DraftRole, runner: Any) -> DraftRole:
    """DFLASH's and DSPARK's draft: one target-verify forward of a block on the draft's own runner."""
    forward = runner.forward

    def eager(batch: Any) -> Any:
        if (embeds := batch.input_embeds) is not None:
            # SGLang's eager forward turns them to bfloat16, whatever the model is in (`_extend_forward_kwargs`).
            batch.input_embeds = embeds = embeds.clone()
            embeds.bfloat16 = lambda: embeds
        with _without_graph(runner):
            return forward(batch)

    def forwarded(batch: Any, *args: Any, **options: Any) -> Any:
        graphs = runner.decode_cuda_graph_runner
        if not batch.forward_mode.is_target_verify() or graphs is None:
            return forward(batch, *args, **options)
        if not graphs.can_run_graph(batch):
            role.eager()
            return forward(batch, *args, **options)
        size = int(batch.seq_lens.numel())
        return role.compare(
            batch,
            lambda batch: forward(batch, *args, **options),
            eager,
            lambda out: _output_rows(out.logits_output, True).reshape(size, -1),
        )

    runner.forward = forwarded
    return role


def _tree_rows(given: Any) -> torch.Tensor:
    """Parents, scores' places and tokens of each request's tree, as numbers that must be the same."""
    parents, scores, tokens = given[:3]
    return torch.cat([parents.float(), scores.float(), tokens.float()], dim=1)


def _output_rows(output: Any, hidden: bool) -> torch.Tensor:
    """Logits and, with `hidden`, hidden states side by side, those that there are."""
    parts = [part for part in (output.next_token_logits, output.hidden_states if hidden else None) if part is not None]
    return torch.cat([part.float() for part in parts], dim=1)


def _selected(output: Any, select: torch.Tensor) -> Any:
    """The rows of `output` that the worker goes on with."""
    chosen = copy.copy(output)
    for name in ("next_token_logits", "hidden_states"):
        rows = getattr(output, name)
        setattr(chosen, name, None if rows is None else rows[select])
    return chosen


def _fresh(batch: Any) -> Any:
    """A batch for another forward: what a forward changes in place or binds anew is its own."""
    made = copy.copy(batch)
    made.spec_info = copy.copy(batch.spec_info)
    for name in ("positions", "input_ids", "mrope_positions"):
        value = getattr(batch, name, None)
        if isinstance(value, torch.Tensor):
            setattr(made, name, value.clone())
    return made


def _nudged(batch: Any, dtype: str) -> Any:
    """The batch with its floating inputs one rounding off."""
    off = 1 + EPSILON[dtype]
    if batch.input_embeds is not None:
        batch.input_embeds = batch.input_embeds * off
    if getattr(batch.spec_info, "hidden_states", None) is not None:
        batch.spec_info.hidden_states = batch.spec_info.hidden_states * off
    return batch


def _kept(given: Any) -> Any:
    """What a graph gave, out of its static buffers: the eager run after it must not be what the worker goes on with."""
    if isinstance(given, torch.Tensor):
        return given.clone()
    if isinstance(given, tuple):
        return tuple(map(_kept, given))
    return given


def _overwritten(scenario: str) -> Access:
    return Access(where="KV cache of committed tokens", access="store", offset=0, size=0, scenario=scenario)


@contextmanager
def _without_graph(runner: Any) -> Iterator[None]:
    before, runner.decode_cuda_graph_runner = runner.decode_cuda_graph_runner, None
    try:
        yield
    finally:
        runner.decode_cuda_graph_runner = before
