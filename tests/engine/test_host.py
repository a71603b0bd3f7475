"""What stands in for a GPU host."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.slow]


def test_the_kernel_library_imports_and_a_kernel_fails_by_its_name(inside: dict[str, Any]):
    assert "silu_and_mul" in inside["kernel call"]


def test_all_ranks_exist_and_collectives_return_at_once(inside: dict[str, Any]):
    world, rank, attention, reduced, gathered = inside["world"]
    assert (world, rank, attention, gathered) == (4, 0, 4, 4)
    assert reduced == [1.0, 1.0, 1.0]


def test_host_memory_stays_unpinned(inside: dict[str, Any]):
    assert inside["pinned"] == [False, False]


def test_streams_are_none_and_nothing_is_being_captured(inside: dict[str, Any]):
    assert inside["streams"] == "False"
