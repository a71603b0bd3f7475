from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.contract.buffers.model import Demand
from ddtree_doctor.contract.buffers.size import BATCH, TOKENS, VOCAB, Extents
from ddtree_doctor.ledger import Buffer

AT = Extents(batch=4, width=33, vocab=256)
LOGITS = Demand(owner="O", name="logits", dims=(TOKENS, VOCAB), kind="logits", holds="logits", source="s")
STATE = Demand(owner="O", name="state", dims=(BATCH, None), kind="rows", holds="state", source="s")


def buffer(*shape: int) -> Buffer:
    return Buffer(owner="O", name="b", shape=shape, dtype="float32", bytes=0)


def test_the_least_shape_is_enough() -> None:
    assert LOGITS.shape(AT) == (132, 256)
    assert LOGITS.unmet(buffer(132, 256), AT) is None


def test_a_short_axis_is_unmet_whichever_it_is() -> None:
    for shape in ((131, 256), (132, 255), (131, 1 << 20)):
        short = LOGITS.unmet(buffer(*shape), AT)
        assert short is not None
        assert short.needed == (132, 256)
        assert short.name == "O.logits"


def test_the_models_own_axis_is_not_judged() -> None:
    assert STATE.formula == "batch, …"
    assert STATE.unmet(buffer(4, 1), AT) is None
    assert STATE.unmet(buffer(3, 1 << 20), AT) is not None


def test_another_number_of_axes_is_judged_by_elements() -> None:
    assert LOGITS.unmet(buffer(132 * 256), AT) is None
    assert LOGITS.unmet(buffer(132 * 256 - 1), AT) is not None
    assert STATE.unmet(buffer(1), AT) is None, "elements say nothing where an axis is the model's own"


@given(st.lists(st.integers(0, 400), max_size=4))
def test_never_raises_on_any_shape(shape: list[int]) -> None:
    LOGITS.unmet(buffer(*shape), AT)
    STATE.unmet(buffer(*shape), AT)
