import pytest

from ddtree_doctor.triage.known import Known
from ddtree_doctor.triage.mismatch import Mismatch
from ddtree_doctor.triage.width_rows import chain, padding, steps, view, width


def size(had, wanted, kind="pair", shape=()):
    return Mismatch(kind=kind, had=had, wanted=wanted, shape=shape)


@pytest.mark.parametrize(
    ("had", "wanted", "known", "fit"),
    [
        (8, 33, Known(block=8, budget=32), "verified"),
        (33, 8, Known(block=8, budget=32), "verified"),
        (24, 99, Known(block=8, budget=32), "verified"),
        (8, 17, Known(block=8, budget=32), "no"),
        (8, 33, Known(block=8, budget=32, width=33), "no"),
        (8, 33, Known(width=8, budget=32), "verified"),
        (16, 8, Known(width=16, draft_tokens=8, algorithm="EAGLE"), "verified"),
        (8, 33, Known(), "assumed"),
        (8, 33, Known(algorithm="DDTREE"), "assumed"),
        (8, 33, Known(algorithm="EAGLE"), "no"),
        (9, 34, Known(), "no"),
    ],
)
def test_width(had, wanted, known, fit):
    assert width(size(had, wanted), known).fit == fit


@pytest.mark.parametrize(
    ("had", "wanted", "known", "fit"),
    [
        (96, 90, Known(draft_tokens=6, graph_sizes=(8, 16)), "verified"),
        (96, 90, Known(draft_tokens=6, running=(15,)), "verified"),
        (96, 90, Known(draft_tokens=6), "assumed"),
        (96, 90, Known(), "assumed"),
        (97, 90, Known(), "no"),
        (614406, 614408, Known(), "no"),
        (8, 33, Known(), "no"),
        (6, 8, Known(), "no"),
    ],
)
def test_padding(had, wanted, known, fit):
    assert padding(size(had, wanted), known).fit == fit


@pytest.mark.parametrize(
    ("had", "wanted", "known", "fit"),
    [
        (2, 6, Known(steps=3, topk=1), "verified"),
        (2, 24, Known(steps=3, topk=4), "verified"),
        (2, 8, Known(steps=3, topk=1), "no"),
    ],
)
def test_steps(had, wanted, known, fit):
    assert steps(size(had, wanted, "named"), known).fit == fit


@pytest.mark.parametrize(
    ("had", "wanted", "known", "fit"),
    [
        (6, 8, Known(steps=5, draft_tokens=8), "verified"),
        (6, 9, Known(steps=5, draft_tokens=8), "no"),
        (6, 8, Known(steps=7, draft_tokens=8), "no"),
    ],
)
def test_chain(had, wanted, known, fit):
    assert chain(size(had, wanted, "concat"), known).fit == fit


@pytest.mark.parametrize(
    ("shape", "elements", "known", "fit"),
    [
        ((64, 5), 1835008, Known(block=7), "verified"),
        ((64, 5), 1835008, Known(), "assumed"),
        ((64, 7), 1835008, Known(block=7), "no"),
        ((64, 4096), 1835009, Known(), "no"),
    ],
)
def test_view(shape, elements, known, fit):
    assert view(size(shape[1], elements, "view", shape), known).fit == fit


@pytest.mark.parametrize("row", [steps, chain])
def test_without_the_settings_they_say_nothing(row):
    assert row(size(2, 6), Known()) is None


@pytest.mark.parametrize("row", [width, padding, steps, chain, view])
def test_other_kinds_are_not_theirs(row):
    assert row(size(1, 2, "bound"), Known(steps=3, topk=1, draft_tokens=4)) is None
