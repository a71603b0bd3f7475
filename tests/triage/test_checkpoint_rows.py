import pytest

from ddtree_doctor.triage.checkpoint_rows import hidden, positions, vocabulary
from ddtree_doctor.triage.known import Known
from ddtree_doctor.triage.mismatch import Mismatch


def size(had, wanted, kind="pair"):
    return Mismatch(kind=kind, had=had, wanted=wanted)


@pytest.mark.parametrize(
    ("had", "wanted", "known", "fit"),
    [
        (32000, 151936, Known(vocab=151936, draft_vocab=32000), "verified"),
        (32000, 151936, Known(), "assumed"),
        (128256, 151936, Known(), "assumed"),
        (131072, 131076, Known(), "no"),
        (8, 33, Known(), "no"),
        (131072, 262144, Known(context=131072), "no"),
    ],
)
def test_vocabulary(had, wanted, known, fit):
    assert vocabulary(size(had, wanted), known).fit == fit


@pytest.mark.parametrize(
    ("had", "wanted", "kind", "known", "fit"),
    [
        (4096, 2048, "concat", Known(hidden=4096, draft_hidden=2048), "verified"),
        (4096, 2048, "concat", Known(), "assumed"),
        (8192, 12288, "matmul", Known(), "assumed"),
        (8, 33, "pair", Known(), "no"),
        (4096, 4096, "pair", Known(), "no"),
        (5120, 777, "pair", Known(), "no"),
    ],
)
def test_hidden(had, wanted, kind, known, fit):
    assert hidden(size(had, wanted, kind), known).fit == fit


def test_a_matmul_names_the_multiples_of_the_hidden_size():
    reading = hidden(size(8192, 12288, "matmul"), Known())

    assert reading.numbers[0].meaning.endswith("3 x 4096")


@pytest.mark.parametrize(
    ("limit", "known", "fit"),
    [
        (2048, Known(context=8192), "verified"),
        (2048, Known(), "assumed"),
        (2048, Known(context=2048), "no"),
        (151936, Known(), "no"),
    ],
)
def test_positions(limit, known, fit):
    assert positions(size(limit, 0, "bound"), known).fit == fit


@pytest.mark.parametrize("row", [vocabulary, hidden, positions])
def test_other_kinds_are_not_theirs(row):
    assert row(size(1, 2, "lengths"), Known()) is None
