from __future__ import annotations

import pytest

from ddtree_doctor.contract.buffers import Extents, extents, shortfalls, unnamed
from ddtree_doctor.knowledge import NotKnown
from ddtree_doctor.ledger import Buffer, Ledger, Row

SIZES = {"context_len": 128, "vocab_size": 256}


def row(*buffers: Buffer, **changes: object) -> Row:
    seen = {"algorithm": "DDTREE", "role": "target_verify", "tokens_per_bs": 33, "capture_bs": (1, 2, 4)}
    return Row(**(seen | {"buffers": buffers} | changes))


def buffer(owner: str, name: str, *shape: int) -> Buffer:
    return Buffer(owner=owner, name=name, shape=shape, dtype="int64", bytes=8 * shape[0])


def test_extents_are_those_of_the_runner_itself() -> None:
    ledger = Ledger(algorithm="DDTREE", sizes=SIZES)
    assert extents(ledger, row()) == Extents(batch=4, width=33, context=128, vocab=256)


def test_a_row_that_captured_nothing_cannot_be_measured() -> None:
    with pytest.raises(NotKnown, match="DDTREE/target_verify"):
        extents(Ledger(algorithm="DDTREE"), row(capture_bs=()))


def test_a_short_buffer_is_found_under_its_kind_only() -> None:
    ledger = Ledger(algorithm="DDTREE", sizes=SIZES)
    seen = row(buffer("DecodeInputBuffers", "input_ids", 131), buffer("DecodeInputBuffers", "positions", 132))
    assert [short.name for short in shortfalls(ledger, seen, ("rows",))] == ["DecodeInputBuffers.input_ids"]
    assert list(shortfalls(ledger, seen, ("mask", "metadata"))) == []


def test_of_several_buffers_of_one_name_the_smallest_is_reported() -> None:
    ledger = Ledger(algorithm="DDTREE", sizes=SIZES)
    seen = row(*(buffer("TritonAttnBackend", "kv_indptr", n) for n in (4, 9, 3)))
    assert [short.buffer.shape for short in shortfalls(ledger, seen, ("metadata",))] == [(3,)]


def test_what_cannot_be_measured_is_named_after_what_was_found() -> None:
    ledger = Ledger(algorithm="DDTREE", sizes={})
    seen = row(buffer("TritonAttnBackend", "kv_indptr", 3), buffer("TritonAttnBackend", "cuda_graph_kv_indices", 9))
    found = shortfalls(ledger, seen, ("metadata",))
    assert next(found).name == "TritonAttnBackend.kv_indptr"
    with pytest.raises(NotKnown, match="cuda_graph_kv_indices"):
        next(found)


def test_a_buffer_that_the_table_does_not_name_is_counted_and_not_judged() -> None:
    ledger = Ledger(algorithm="DDTREE", sizes=SIZES)
    stranger = buffer("SomeBackend", "scratch", 1)
    seen = row(stranger, buffer("DecodeInputBuffers", "input_ids", 132))
    assert unnamed(seen) == (stranger,)
    assert list(shortfalls(ledger, seen, ("rows", "mask", "metadata", "steps", "logits", "headroom"))) == []
