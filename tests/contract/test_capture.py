from __future__ import annotations

from math import gcd
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ddtree_doctor.contract.capture import aligned_budgets, capture, default_list, mul_base, round_up
from tests.contract.engine_rule import REFUSED, Engine

SIZES = st.lists(st.integers(1, 512), min_size=1, max_size=40) | st.builds(
    default_list, st.integers(1, 600), speculative=st.booleans(), padding=st.booleans()
)
RULE = {
    "bs": SIZES.map(list),
    "pool": st.integers(1, 600),
    "width": st.integers(1, 1025),
    "attn_tp": st.integers(1, 16),
    "attn_cp": st.integers(1, 8),
    "overlap": st.booleans(),
    "gather": st.booleans(),
}


def ours(bs: list[int], pool: int, width: int, attn_tp: int, attn_cp: int, overlap: bool, gather: bool) -> Any:
    base = mul_base(two_batch_overlap=overlap, gather=gather, attn_tp=attn_tp, attn_cp=attn_cp)
    found = capture(bs, pool=pool, width=width, base=base, two_batch_overlap=overlap)
    return REFUSED if found.refused else list(found.sizes)


@pytest.mark.engine
@pytest.mark.slow
@settings(max_examples=3000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(**RULE)
@example(bs=[1, 2, 3], pool=20, width=33, attn_tp=8, attn_cp=1, overlap=False, gather=True)
@example(bs=[0, 8], pool=20, width=8, attn_tp=8, attn_cp=1, overlap=False, gather=True)
@example(bs=[1, 2, 600], pool=3, width=33, attn_tp=8, attn_cp=1, overlap=False, gather=True)
@example(bs=[12, 24], pool=24, width=5, attn_tp=4, attn_cp=6, overlap=True, gather=True)
def test_the_capture_rule_is_the_engines(engine: Engine, **question: Any) -> None:
    assert ours(**question) == engine.ask(function="capture", **question)


@pytest.mark.engine
@pytest.mark.parametrize("padding", [True, False])
@pytest.mark.parametrize("algorithm", [None, "EAGLE"])
def test_the_default_list_is_the_engines(engine: Engine, algorithm: str | None, padding: bool) -> None:
    for max_bs in [*range(1, 300), 511, 512, 513, 1000]:
        mine = default_list(max_bs, speculative=algorithm is not None, padding=padding)
        theirs = engine.ask(function="default_list", max_bs=max_bs, algorithm=algorithm, padding=padding)
        assert list(mine) == sorted(theirs), max_bs


@given(SIZES, st.integers(1, 600), st.integers(1, 1025), st.integers(1, 64), st.booleans())
def test_every_size_is_captured_lost_or_beyond_the_pool(
    bs: list[int], pool: int, width: int, base: int, overlap: bool
) -> None:
    found = capture(bs, pool=pool, width=width, base=base, two_batch_overlap=overlap)
    assert set(found.sizes) | set(found.lost) >= {size for size in bs if size <= found.pool}
    assert not set(found.sizes) & set(found.lost)
    assert all(size * (1 if overlap else width) % base == 0 for size in found.sizes)


@given(SIZES, st.integers(1, 600), st.integers(1, 1025), st.integers(1, 64))
def test_a_kept_size_is_a_multiple_of_what_the_width_leaves_of_the_base(
    bs: list[int], pool: int, width: int, base: int
) -> None:
    found = capture(bs, pool=pool, width=width, base=base, two_batch_overlap=False)
    assert all(size % (base // gcd(base, width)) == 0 for size in found.sizes)


def test_a_pool_below_the_list_is_captured_itself() -> None:
    found = capture(range(1, 49), pool=3, width=33, base=8, two_batch_overlap=False)
    assert (found.sizes, found.pool) == ((8,), 8)


def test_context_parallel_multiplies_only_what_it_does_not_divide() -> None:
    assert mul_base(two_batch_overlap=True, gather=True, attn_tp=4, attn_cp=2) == 8
    assert mul_base(two_batch_overlap=False, gather=True, attn_tp=4, attn_cp=3) == 12
    assert mul_base(two_batch_overlap=False, gather=False, attn_tp=4, attn_cp=2) == 2


@given(st.integers(0, 10_000), st.integers(1, 64))
def test_rounding_up_gives_the_least_multiple(number: int, base: int) -> None:
    assert round_up(number, base) in range(number, number + base)
    assert round_up(number, base) % base == 0


@given(st.integers(1, 1024), SIZES, st.integers(1, 64), st.booleans())
def test_aligned_budgets_lose_nothing_and_none_lies_nearer(
    budget: int, bs: list[int], base: int, overlap: bool
) -> None:
    def loses(candidate: int) -> bool:
        found = capture(bs, pool=max(bs), width=candidate + 1, base=base, two_batch_overlap=overlap)
        return bool(found.lost)

    found = aligned_budgets(budget, bs, base=base, two_batch_overlap=overlap)
    below = next((n for n in range(budget, 0, -1) if not loses(n)), None)
    above = next((n for n in range(budget, budget + 65) if not loses(n)), None)
    assert set(found) == {n for n in (below, above) if n is not None}
