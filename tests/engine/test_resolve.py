"""Resolving: the launch's own options, by the engine itself, for the launch's GPU and ranks."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.slow]


def test_the_engine_resolves_as_for_the_launchs_gpu_and_ranks(inside: dict[str, Any]):
    seen = inside["resolved"]
    assert inside["algorithm"] == "SpeculativeAlgorithm.EAGLE"
    assert (seen["tp_size"], seen["page_size"], seen["attention_backend"]) == (4, 16, "triton")
    # What a GPU of 24 GiB at TP 4 gets, cut down to the requests that EAGLE lets run: decided for a GPU, not for a CPU.
    assert seen["cuda_graph_config"]["decode"]["max_bs"] in (48, 80, 160)
    assert seen["disable_overlap_schedule"] is False
