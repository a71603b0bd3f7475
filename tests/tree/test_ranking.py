from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.tree.ranking import ranking
from tests.strategies import logits


@given(logits(), st.integers(1, 8))
def test_candidates_fall_and_equal_ones_keep_the_order_of_ids(rows: list[list[float]], count: int) -> None:
    for values, row in zip(rows, ranking(rows, count), strict=True):
        assert len(row) == min(count, len(values))
        assert [c.token for c in row] == sorted(range(len(values)), key=lambda t: (-values[t], t))[:count]
        assert all(a.logp >= b.logp for a, b in itertools.pairwise(row))


@given(logits())
def test_all_candidates_of_a_row_share_out_its_probability(rows: list[list[float]]) -> None:
    for row in ranking(rows, len(rows[0])):
        assert math.isclose(sum(math.exp(c.logp) for c in row), 1.0, rel_tol=1e-9)


@given(logits(), st.integers(1, 8))
def test_log_probabilities_rank_as_the_logits_they_come_from(rows: list[list[float]], count: int) -> None:
    first = ranking(rows, len(rows[0]))
    again = [[next(c.logp for c in row if c.token == t) for t in range(len(row))] for row in first]
    for a, b in zip(ranking(rows, count), ranking(again, count), strict=True):
        assert all(math.isclose(x.logp, y.logp, abs_tol=1e-9) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("row", [[math.nan, 0.0], [math.inf, 0.0], [-math.inf, -math.inf]])
def test_rows_that_are_no_distribution_are_refused(row: list[float]) -> None:
    with pytest.raises(ValueError, match="row 1 of the logits"):
        ranking([[0.0, 1.0], row], 2)


@pytest.mark.parametrize("rows", [3.5, [1.0, 2.0], [[1.0], [1.0, 2.0]]])
def test_only_a_matrix_can_be_ranked(rows: object) -> None:
    with pytest.raises(ValueError, match=r"nest|differ"):
        ranking(rows, 2)


def test_an_impossible_token_is_ranked_last() -> None:
    (row,) = ranking([[-math.inf, 0.0]], 2)
    assert [candidate.token for candidate in row] == [1, 0]


@pytest.mark.engine
@given(logits(), st.integers(1, 8))
def test_a_torch_tensor_ranks_as_lists_do(rows: list[list[float]], count: int) -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(rows, dtype=torch.float32)
    for mine, theirs in zip(ranking(tensor, count), ranking(tensor.tolist(), count), strict=True):
        assert [c.token for c in mine] == [c.token for c in theirs]
        assert all(math.isclose(a.logp, b.logp, abs_tol=1e-5) for a, b in zip(mine, theirs, strict=True))


@pytest.mark.engine
def test_a_tensor_must_be_a_matrix() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="depth, vocabulary"):
        ranking(torch.zeros(3), 1)
    with pytest.raises(ValueError, match="row 0"):
        ranking(torch.tensor([[float("nan"), 1.0]]), 1)
