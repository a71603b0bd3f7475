from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.contract.buffers.size import BATCH, CONTEXT, STEPS, TOKENS, WIDTH, Extents, constant
from ddtree_doctor.knowledge import NotKnown

NUMBERS = st.integers(1, 1 << 16)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_a_formula_computes_what_it_shows(batch: int, width: int, context: int) -> None:
    size = TOKENS * (CONTEXT + WIDTH)
    at = Extents(batch=batch, width=width, context=context)
    assert size.text == "batch × width × (context + width)"
    assert size.of(at) == batch * width * (context + width)
    assert size.of(at) == eval(size.text.replace("×", "*"), {}, {"batch": batch, "width": width, "context": context})


def test_a_number_is_a_formula_that_shows_itself() -> None:
    assert (BATCH + 1).text == "batch + 1"
    assert constant(3).of(Extents(batch=1, width=1)) == 3


def test_an_extent_that_was_not_recorded_is_named() -> None:
    with pytest.raises(NotKnown, match="steps"):
        (TOKENS * STEPS).of(Extents(batch=1, width=1))
