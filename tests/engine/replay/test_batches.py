import pytest

torch = pytest.importorskip("torch")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from ddtree_doctor.engine.replay.batches import Verify  # noqa: E402
from ddtree_doctor.replay.scenario import Batch, Request  # noqa: E402
from ddtree_doctor.tree.shapes import from_parents  # noqa: E402

pytestmark = pytest.mark.engine


def verify(*prefixes, width=4):
    requests = tuple(
        Request(slot=slot, prefix=prefix, tree=from_parents([-1, 0, 0, 1][:width]))
        for slot, prefix in enumerate(prefixes)
    )
    slots = [torch.arange(width) + 10 * at for at in range(len(prefixes))]
    return Verify.of(Batch(requests=requests), range(len(prefixes)), slots, "cpu")


prefixes = st.lists(st.integers(1, 9), min_size=1, max_size=4)


@given(prefixes, st.integers(1, 4))
def test_every_row_has_a_token_a_position_a_slot_and_a_line_of_the_mask(lengths, width):
    made, rows = verify(*lengths, width=width), len(lengths) * width
    assert [len(part) for part in (made.tokens, made.positions, made.slots)] == [rows] * 3
    assert made.mask.numel() == sum(width * (length + width) for length in lengths)
    assert made.next_token.shape == made.next_sibling.shape == (len(lengths), width)


@given(prefixes, st.integers(1, 4))
def test_the_first_request_alone_is_what_it_would_be_without_the_others(lengths, width):
    first, alone = verify(*lengths, width=width).first(), verify(lengths[0], width=width)
    assert first.width == alone.width
    for part in ("tokens", "positions", "slots", "rows", "lengths", "mask", "next_token", "next_sibling"):
        assert torch.equal(getattr(first, part), getattr(alone, part)), part


def test_a_row_sees_the_prefix_and_its_ancestors():
    mask = verify(2).mask.view(4, 6).int().tolist()
    assert mask == [[1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 0, 0], [1, 1, 1, 0, 1, 0], [1, 1, 1, 1, 0, 1]]
