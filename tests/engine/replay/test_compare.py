import math

import pytest

torch = pytest.importorskip("torch")

from ddtree_doctor.engine.replay.compare import MOST_ROUNDINGS, gap, largest, noise  # noqa: E402
from ddtree_doctor.replay.record import EPSILON  # noqa: E402

pytestmark = pytest.mark.engine


def rows(*values):
    return torch.tensor(values, dtype=torch.float32)


def test_the_first_row_beyond_what_is_allowed_is_named_with_its_top2():
    found = gap(rows([1.0, 0.0], [2.0, 0.5]), rows([1.0, 0.0], [2.0, 0.9]), spread=0.0, dtype="float32")
    assert (found.row, found.top2) == (1, 1.5)
    assert found.largest == pytest.approx(0.4)
    assert not found.agrees("float32")


def test_equal_rows_agree_and_name_none():
    found = gap(rows([1.0, 0.0]), rows([1.0, 0.0]), spread=0.0, dtype="float32")
    assert (found.row, found.top2, found.largest) == (None, None, 0.0)
    assert found.agrees("float32")


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_never_agrees(value):
    found = gap(rows([1.0, 0.0]), rows([value, 0.0]), spread=10.0, dtype="float32")
    assert (found.row, found.largest) == (0, None)
    assert not found.agrees("float32")


@pytest.mark.parametrize(("one", "other", "row"), [(2, 1, 1), (1, 2, 1), (2, 0, 0)])
def test_the_output_of_another_graph_differs_by_the_rows_it_lacks(one, other, row):
    found = gap(torch.zeros(one, 3), torch.zeros(other, 3), spread=0.0, dtype="float32")
    assert (found.row, found.largest) == (row, None)


def test_nothing_differs_from_nothing():
    assert largest(torch.zeros(0, 3), torch.zeros(0, 3)) == 0.0


@pytest.mark.parametrize("dtype", sorted(MOST_ROUNDINGS))
def test_noise_is_the_difference_as_far_as_rounding_explains_it(dtype):
    rounding = EPSILON[dtype]
    assert noise(rows([1.0, 0.0]), rows([1.0 - 2 * rounding, 0.0]), dtype) == pytest.approx(2 * rounding, rel=0.1)
    assert noise(rows([1.0, 0.0]), rows([0.0, 1.0]), dtype) == MOST_ROUNDINGS[dtype] * rounding
    assert noise(rows([1.0, 0.0]), rows([math.nan, 1.0]), dtype) == MOST_ROUNDINGS[dtype] * rounding


def test_a_fault_that_two_computations_share_half_of_does_not_pass_for_noise():
    one, other = rows([1.0, 0.0]), rows([0.0, 1.0])
    assert not gap(one, other, spread=noise(one, other, "bfloat16"), dtype="bfloat16").agrees("bfloat16")
