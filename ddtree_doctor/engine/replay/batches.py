"""Forward batches as the scheduler and the speculative workers build them: extend, and target verify of a tree.

Built from SGLang's own classes by field name; what a release does not know is left out, so that 0.5.17 and 0.5.23 both
take them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from ddtree_doctor.engine import seams
from ddtree_doctor.replay.scenario import Batch

__all__ = ["Extend", "Verify", "extend_batch", "verify_batch", "verify_input"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extend:
    """One request of an extend forward: `tokens` go to KV slots `slots`, after `prefix` that are in the cache."""

    row: int
    prefix: int
    tokens: tuple[int, ...]
    slots: torch.Tensor

    def until(self, count: int) -> Extend:
        """The first `count` tokens of it."""
        return replace(self, tokens=self.tokens[:count], slots=self.slots[:count])

    def after(self, count: int) -> Extend:
        """The rest of it, once the first `count` tokens are in the cache."""
        return replace(self, prefix=self.prefix + count, tokens=self.tokens[count:], slots=self.slots[count:])


@dataclass(frozen=True, slots=True, kw_only=True)
class Verify:
    """What a verify forward is given: rows of all requests one after the other, `mask` flat as SGLang packs it.

    Shapes with n requests of width w: tokens, positions, slots [n·w]; rows, lengths [n]; mask [Σ w·(length + w)].
    """

    width: int
    tokens: torch.Tensor
    positions: torch.Tensor
    slots: torch.Tensor
    rows: torch.Tensor
    lengths: torch.Tensor
    mask: torch.Tensor
    next_token: torch.Tensor
    next_sibling: torch.Tensor

    @classmethod
    def of(cls, batch: Batch, rows: Sequence[int], slots: Sequence[torch.Tensor], device: Any) -> Verify:
        """The inputs of `batch`; `slots` are each request's KV slots for its tree rows."""

        def flat(values: Sequence[Sequence[Any]], **kind: Any) -> torch.Tensor:
            return torch.tensor([value for row in values for value in row], device=device, **kind)

        requests = batch.requests
        links = [request.tree.links() for request in requests]
        return cls(
            width=batch.width,
            tokens=flat([request.tree.rows for request in requests]),
            positions=flat([request.tree.positions(request.prefix) for request in requests]),
            slots=torch.cat(list(slots)),
            rows=torch.tensor(list(rows), device=device),
            lengths=torch.tensor([request.prefix for request in requests], device=device),
            mask=torch.cat([_mask(request.prefix, request.tree.mask(), device) for request in requests]),
            next_token=flat([link.next_token for link in links]).view(batch.size, -1),
            next_sibling=flat([link.next_sibling for link in links]).view(batch.size, -1),
        )

    def first(self) -> Verify:
        """The first request alone."""
        rows, mask = slice(self.width), slice(self.width * (int(self.lengths[0]) + self.width))
        return Verify(
            width=self.width,
            tokens=self.tokens[rows],
            positions=self.positions[rows],
            slots=self.slots[rows],
            rows=self.rows[:1],
            lengths=self.lengths[:1],
            mask=self.mask[mask],
            next_token=self.next_token[:1],
            next_sibling=self.next_sibling[:1],
        )


def _mask(prefix: int, tree: Sequence[Sequence[bool]], device: Any) -> torch.Tensor:
    """One request's mask, [w, prefix + w] flat: the prefix is seen by every row, the tree by ancestors."""
    block = torch.tensor(tree, dtype=torch.bool, device=device)
    return torch.cat([block.new_ones(len(tree), prefix), block], dim=1).flatten()


def extend_batch(runner: Any, requests: Sequence[Extend]) -> Any:
    """An extend forward."""
    device = runner.device
    counts = [len(request.tokens) for request in requests]
    totals = [request.prefix + count for request, count in zip(requests, counts, strict=True)]
    starts = [sum(counts[:at]) for at in range(len(counts))]

    def ints(values: Sequence[int], kind: torch.dtype = torch.int32) -> torch.Tensor:
        return torch.tensor(list(values), dtype=kind, device=device)

    return _built(
        seams.find("forward batch"),
        forward_mode=seams.find("forward modes").EXTEND,
        batch_size=len(requests),
        input_ids=ints([token for request in requests for token in request.tokens], torch.int64),
        req_pool_indices=ints([request.row for request in requests], torch.int64),
        seq_lens=ints(totals, torch.int64),
        seq_lens_cpu=torch.tensor(totals),
        orig_seq_lens=ints(totals, torch.int64),
        seq_lens_sum=sum(totals),
        out_cache_loc=torch.cat([request.slots for request in requests]),
        positions=ints([p for r, n in zip(requests, totals, strict=True) for p in range(r.prefix, n)], torch.int64),
        extend_num_tokens=sum(counts),
        extend_seq_lens=ints(counts),
        extend_seq_lens_cpu=counts,
        extend_prefix_lens=ints([request.prefix for request in requests]),
        extend_prefix_lens_cpu=[request.prefix for request in requests],
        extend_start_loc=ints(starts),
        extend_logprob_start_lens_cpu=counts,
        spec_algorithm=runner.spec_algorithm,
        capture_hidden_mode=seams.find("hidden modes").NULL,
        **_owned(runner),
    )


def verify_batch(runner: Any, verify: Verify) -> Any:
    """A target verify forward of these trees, with the algorithm's own verify input; without speculation, a decode.

    A decode's lengths count its own token, a verify's do not count the tree.
    """
    modes = seams.find("forward modes")
    if runner.spec_algorithm.is_none():
        lengths, mode, spec_info = verify.lengths + 1, modes.DECODE, None
    else:
        lengths, mode = verify.lengths, modes.TARGET_VERIFY
        spec_info = verify_input(runner, verify, lengths.cpu())
    return _built(
        seams.find("forward batch"),
        forward_mode=mode,
        batch_size=verify.rows.numel(),
        input_ids=verify.tokens,
        req_pool_indices=verify.rows,
        seq_lens=lengths,
        seq_lens_cpu=lengths.cpu(),
        orig_seq_lens=lengths,
        seq_lens_sum=int(lengths.sum()),
        out_cache_loc=verify.slots,
        positions=verify.positions,
        spec_algorithm=runner.spec_algorithm,
        spec_info=spec_info,
        capture_hidden_mode=spec_info.capture_hidden_mode if spec_info else seams.find("hidden modes").NULL,
        can_run_decode_cuda_graph=True,
        **_owned(runner),
    )


def verify_input(runner: Any, verify: Verify, lengths_cpu: torch.Tensor) -> Any:
    """What the algorithm's worker hands to verify, as its own class. Raises MovedSeam where the algorithm has none."""
    kind, hidden = _verify_class(runner.spec_algorithm)
    index = torch.arange(verify.tokens.numel(), device=verify.tokens.device).view(verify.rows.numel(), -1)
    spec = seams.find("speculation options")()
    made = _built(
        kind,
        draft_token=verify.tokens,
        custom_mask=verify.mask,
        positions=verify.positions,
        retrieve_index=index,
        retrive_index=index,
        retrieve_next_token=verify.next_token,
        retrive_next_token=verify.next_token,
        retrieve_next_sibling=verify.next_sibling,
        retrive_next_sibling=verify.next_sibling,
        retrieve_cum_len=None,
        retrive_cum_len=None,
        spec_steps=spec.speculative_num_steps,
        topk=spec.speculative_eagle_topk or 1,
        draft_token_num=verify.width,
        capture_hidden_mode=hidden,
        seq_lens_sum=int(lengths_cpu.sum()),
        seq_lens_cpu=lengths_cpu,
    )
    made.capture_hidden_mode = hidden
    return made


def _verify_class(algorithm: Any) -> tuple[Any, Any]:
    """The algorithm's verify input class and the hidden states that its target hands on."""
    hidden = seams.find("hidden modes")
    table: tuple[tuple[str, str, Any], ...] = (
        ("is_ngram", "n-gram verify input", hidden.NULL),
        ("is_standalone", "EAGLE verify input", hidden.NULL),
        ("is_eagle", "EAGLE verify input", hidden.FULL),
        ("is_dflash_family", "DFLASH verify input", hidden.FULL),
        ("is_dflash", "DFLASH verify input", hidden.FULL),
    )
    for question, reach, mode in table:
        if getattr(algorithm, question, _no)():
            return seams.find(reach), mode
    raise seams.MovedSeam("verify input", "absent", f"{algorithm} answers none of the known questions")


def _no() -> bool:
    return False


def _owned(runner: Any) -> dict[str, Any]:
    """Pools and backend, which releases before 0.5.20 keep in the batch."""
    return {
        "req_to_token_pool": runner.req_to_token_pool,
        "token_to_kv_pool": runner.token_to_kv_pool,
        "attn_backend": runner.attn_backend,
    }


def _built(kind: Callable[..., Any], **fields: Any) -> Any:
    """`kind` with those of the fields that it knows."""
    known = inspect.signature(kind).parameters
    return kind(**{name: value for name, value in fields.items() if name in known})
