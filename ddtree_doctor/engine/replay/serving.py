"""Requests on started workers, served as SGLang's scheduler serves them without overlap.

No scheduler runs: its process is sockets, queues and metrics. What it calls for a batch is called here, in its order:
`Scheduler.run_batch` with its forward isolation, `_resolve_spec_v2_tokens` of its result processor, `release_kv_cache`.
Draft, verify, the accept walk, the move of KV and the allocation and release of slots are the engine's own.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ddtree_doctor.engine import seams

if TYPE_CHECKING:
    from ddtree_doctor.engine.start import Started

__all__ = ["Round", "Serving"]

ROUNDS_AHEAD = 1024
"""New tokens that a request may have: none ends by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round of draft, verify and accept: per request the committed tokens before it and the tokens it won."""

    before: tuple[int, ...]
    won: tuple[tuple[int, ...], ...]
    result: Any


class Serving:
    """The requests that are being served, in the order of their rows in the batch."""

    def __init__(self, started: Started) -> None:
        self.started = started
        self.target, self.worker = started.target, started.draft
        self.pool, self.allocator = seams.field(self.target, "worker's shared pools")()
        cache = {
            "server_args": started.arguments,
            "model_config": self.runner.model_config,
            "tp_worker": self.target,
            "page_size": int(self.allocator.page_size),
            "spec_algorithm": started.algorithm,
            "enable_metrics": False,
            "enable_kv_cache_events": False,
            "enable_hierarchical_cache": False,
        }
        self.cache = seams.call("scheduler's cache", cache).tree_cache
        self.batch: Any = None

    @property
    def runner(self) -> Any:
        """The target's model runner."""
        return seams.field(self.target, "model runner")

    @property
    def requests(self) -> Sequence[Any]:
        """SGLang's own requests."""
        return [] if self.batch is None else list(self.batch.reqs)

    @property
    def committed(self) -> list[int]:
        """Tokens of each request that are in the KV cache."""
        return [int(request.kv.kv_committed_len) for request in self.requests]

    def slots(self, at: int, start: int, end: int) -> Any:
        """The KV slots of positions `start` to `end` of request `at`, int64."""
        return self.pool.req_to_token[self.requests[at].kv.req_pool_idx, start:end].long()

    def admit(self, texts: Sequence[Sequence[int]]) -> None:
        """Prefill these prompts, as one batch; each request then has its first token."""
        self.batch = seams.find("batch of requests").init_new(
            reqs=[self._request(at, text) for at, text in enumerate(texts)],
            req_to_token_pool=self.pool,
            token_to_kv_pool_allocator=self.allocator,
            tree_cache=self.cache,
            model_config=self.runner.model_config,
            enable_overlap=False,
            spec_algorithm=self.started.algorithm,
        )
        self.batch.prepare_for_extend()
        seams.find("inputs of a batch")(self.batch, None)
        result = self._forward()
        for request, token in zip(self.requests, result.next_token_ids.tolist(), strict=True):
            request.output_ids.append(token)

    def round(self) -> Round:
        """Draft, verify and accept once for every request."""
        before = tuple(self.committed)
        self.batch.prepare_for_decode()
        result = self._forward()
        won = seams.find("commit of a round")(_processor(self.worker), result, self.batch)
        for request, tokens in zip(self.requests, won, strict=True):
            request.output_ids.extend(tokens)
        return Round(before=before, won=tuple(map(tuple, won)), result=result)

    def leave(self, at: int) -> None:
        """Request `at` is done: its slots are given back, the others move up."""
        request = self.requests[at]
        request.finished_reason = seams.find("end of a request")(length=len(request.output_ids))
        seams.find("release of a request")(request, self.cache, checkpoint=True)
        keep = [row for row in range(len(self.requests)) if row != at]
        if keep:
            self.batch.filter_batch(keep_indices=keep)
        else:
            self.batch = None

    def _request(self, at: int, text: Sequence[int]) -> Any:
        sampling = seams.find("sampling parameters")(temperature=0, max_new_tokens=ROUNDS_AHEAD, ignore_eos=True)
        sampling.normalize(None)
        request = seams.find("request")(
            rid=str(at),
            origin_input_text="",
            origin_input_ids=array("q", text),
            sampling_params=sampling,
            vocab_size=int(self.runner.model_config.vocab_size),
        )
        request.init_next_round_input(self.cache)
        # What the scheduler decides on admission: all of the prompt at once, without log-probabilities.
        request.extend_end, request.logprob_start_len = len(text), -1
        return request

    def _forward(self) -> Any:
        """The worker's forward; what it changed in the batch is undone but for what the next one starts from."""
        batch = self.batch
        before = {field.name: getattr(batch, field.name) for field in fields(batch)}
        batch.sampling_info = batch.sampling_info.copy_for_forward()
        try:
            result = self.worker.forward_batch_generation(batch)
        finally:
            for name, value in before.items():
                setattr(batch, name, value)
        batch.spec_info, batch.input_ids = result.next_draft_input, None
        if result.new_seq_lens is not None and result.new_seq_lens is not batch.seq_lens:
            batch.seq_lens = result.new_seq_lens
            batch.seq_lens_cpu = result.new_seq_lens.cpu()
            batch.seq_lens_sum = int(batch.seq_lens_cpu.sum())
        return result


def _processor(worker: Any) -> Any:
    """What the commit of a round asks of its owner: the worker, and two things that do nothing for such requests."""
    return SimpleNamespace(
        model_worker=worker,
        metrics_reporter=SimpleNamespace(snapshot_spec_decode_metrics=lambda *_: None),
        advance_grammar_fsm=lambda *_: None,
    )
