from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.contract.capture import default_list
from ddtree_doctor.sweep import sweep
from tests.contract.engine_rule import Engine


def test_budget_32_loses_the_smallest_batches_over_eight_ranks_and_31_loses_none() -> None:
    kept, lost = sweep([31, 32], [8])
    assert (kept["width"], kept["lost_bs"]) == (32, [])
    assert (lost["width"], lost["lost_bs"][:7]) == (33, [1, 2, 3, 4, 5, 6, 7])


def test_without_gather_nothing_is_lost() -> None:
    assert not any(cell["lost_bs"] for cell in sweep(range(1, 129), [1, 2, 4, 8], gather=False))


@given(st.integers(1, 1024), st.sampled_from([1, 2, 4, 8, 16]), st.integers(1, 256))
def test_a_cell_loses_what_does_not_divide(budget: int, attn_tp: int, max_bs: int) -> None:
    (cell,) = sweep([budget], [attn_tp], max_bs=max_bs)
    divides = {bs for bs in default_list(max_bs, speculative=True) if bs * (budget + 1) % attn_tp == 0}
    assert set(cell["lost_bs"]) == set(default_list(max_bs, speculative=True)) - divides


@pytest.mark.engine
def test_every_cell_is_the_engines() -> None:
    pytest.importorskip("sglang")
    configured = default_list(48, speculative=True)
    with Engine() as engine:
        for cell in sweep(range(1, 129), [1, 2, 4, 8]):
            size = {"attn_tp": cell["attn_tp"], "attn_cp": 1, "overlap": False, "gather": True}
            kept = engine.ask(function="capture", bs=configured, pool=48, width=cell["width"], **size)
            assert set(configured) - set(kept) == set(cell["lost_bs"]), cell
