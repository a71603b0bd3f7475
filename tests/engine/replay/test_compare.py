import math

import pytest

torch = pytest.importorskip("torch")

from ddtree_doctor.engine.replay.compare import gap, largest  # noqa: E402

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
