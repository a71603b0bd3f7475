"""Ledgers of the real engine: every algorithm, every role, widths, lists, graphs and buffers."""

from __future__ import annotations

import re
from importlib.util import find_spec
from math import prod
from pathlib import Path

import pytest

from ddtree_doctor.contract.capture import capture
from ddtree_doctor.ledger import Ledger, Row
from tests.engine.starts import WIDTHS, ledger

pytestmark = [pytest.mark.engine, pytest.mark.slow]

every_start = pytest.mark.parametrize("name", WIDTHS)
_BYTES = {"int64": 8, "int32": 4, "float32": 4, "bool": 1, "uint8": 1, "float16": 2, "bfloat16": 2}


def rows(name: str) -> tuple[Row, ...]:
    found = ledger(name)
    assert not found.unknown
    return found.rows


@every_start
def test_every_role_has_the_width_of_its_definition(name: str):
    assert {row.role: row.tokens_per_bs for row in rows(name)} == WIDTHS[name]


@every_start
def test_nothing_stayed_unknown_and_capture_went_through(name: str):
    assert [(row.role, row.unknown, row.failed) for row in rows(name) if row.unknown or row.failed] == []


@every_start
def test_the_list_is_what_the_rule_gives_for_the_inputs_that_were_recorded(name: str):
    for row in rows(name):
        given = row.inputs
        rule = capture(
            given["configured"],
            pool=given["pool"],
            width=given["width"],
            base=row.mul_base,
            two_batch_overlap=given["two_batch_overlap"],
        )
        assert row.capture_bs == rule.sizes


@every_start
def test_every_listed_size_has_a_graph_of_its_rows(name: str):
    for row in rows(name):
        assert {graph.bs for graph in row.captured} == set(row.capture_bs)
        assert all(graph.tokens == graph.bs * row.tokens_per_bs for graph in row.captured)
        assert len({graph.key for graph in row.captured}) == len(row.captured)


@every_start
def test_the_source_is_the_line_that_assigns_the_width(name: str):
    root = Path(find_spec("sglang").submodule_search_locations[0]).parent
    for row in rows(name):
        file, line = re.fullmatch(r"(sglang/srt/.+\.py):(\d+)", row.source).groups()
        assert "self.captured_req_width =" in (root / file).read_text().splitlines()[int(line) - 1]


@every_start
def test_buffers_have_the_bytes_of_their_shape(name: str):
    for row in rows(name):
        assert row.buffers
        assert all(buffer.bytes == prod(buffer.shape) * _BYTES[buffer.dtype] for buffer in row.buffers)


@every_start
def test_token_buffers_hold_the_largest_batch(name: str):
    for row in rows(name):
        rows_of = {buffer.name: buffer.shape for buffer in row.buffers if buffer.owner.endswith("InputBuffers")}
        assert rows_of["positions"][0] >= max(row.capture_bs) * row.tokens_per_bs


@pytest.mark.parametrize("name", ["NGRAM", "EAGLE", "DDTREE"])
def test_verify_yields_a_row_of_logits_for_each_token_and_is_given_a_mask(name: str):
    row = ledger(name).row("target_verify")
    ran = [graph for graph in row.captured if graph.logits_rows is not None]
    assert [graph.bs for graph in ran] == sorted(row.capture_bs)[:2]
    assert all(graph.logits_rows == graph.tokens for graph in ran)
    context = ledger(name).sizes["context_len"]
    needed = max(row.capture_bs) * row.tokens_per_bs * (context + row.tokens_per_bs)
    assert {graph.mask_numel for graph in row.captured} == {needed}


def test_draft_extend_yields_a_row_of_logits_for_each_request():
    row = ledger("EAGLE").row("draft_extend")
    assert {graph.bs: graph.logits_rows for graph in row.captured if graph.logits_rows} == {1: 1, 2: 2}


def test_the_founding_fault_is_seen_at_the_blocks_width_beside_the_trees():
    fault, sound = (ledger(name).row("target_verify") for name in ("DDTREE by block", "DDTREE"))
    assert (fault.tokens_per_bs, sound.tokens_per_bs) == (8, 33)
    assert fault.runner == sound.runner == "DecodeCudaGraphRunner"
    assert (fault.gate_width, fault.dummy_width, sound.gate_width, sound.dummy_width) == (8, 8, 33, 33)


def test_ranks_that_gather_lose_the_small_batches_of_an_odd_tree_and_none_of_the_block():
    found = ledger("DDTREE on 8 ranks that gather")
    verify, draft = found.row("target_verify"), found.row("draft")
    assert (verify.mul_base, verify.inputs["attn_tp"], verify.inputs["gather"]) == (8, 8, True)
    assert verify.capture_bs == (8, 16, 24)
    assert draft.capture_bs == (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20, 22, 24)


def test_attention_dp_divides_the_pool_and_its_drafts_ask_for_whole_multiples():
    found = ledger("EAGLE on 8 ranks, attention on 2 of 4")
    verify, draft = found.row("target_verify"), found.row("draft")
    assert (verify.inputs["pool"], verify.inputs["attn_tp"], verify.mul_base) == (16, 2, 2)
    assert verify.capture_bs == (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)
    assert draft.capture_bs == (2, 4, 6, 8, 10, 12, 14, 16)


def test_each_step_of_multi_layer_eagle_has_its_own_row():
    assert [row.role for row in rows("MULTI_LAYER_EAGLE")].count("draft_extend") == 3


def test_uno_drafts_with_its_target():
    assert {row.worker for row in rows("UNO tree")} == {"target"}


def test_a_launch_without_graphs_says_that_none_was_captured():
    found = ledger("graphs off")
    assert [(row.role, row.unknown) for row in found.rows] == [("decode", "the engine captured no graph for this role")]


def test_a_large_start_stays_within_its_time():
    assert ledger("large").seconds < 280
    assert max(ledger("large").row("target_verify").capture_bs) == 256


def test_the_ledger_says_what_its_sizes_are_and_what_the_engine_resolved():
    found: Ledger = ledger("EAGLE")
    assert {"context_len", "vocab_size", "pool_size", "steps", "topk", "draft_tokens", "page_size"} <= set(found.sizes)
    assert found.resolved["speculative_algorithm"] == "EAGLE"
    assert found.engine_version
