import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.triage.mismatch import mismatches


@pytest.mark.parametrize(
    "text",
    [
        "The size of tensor a (8) must match the size of tensor b (33) at non-singleton dimension 0",
        "The expanded size of the tensor (8) must match the existing size (33) at non-singleton dimension 0",
        "an output was resized since it had shape [8], which does not match the required output shape [33]",
        "output with shape [8, 4] doesn't match the broadcast shape [33, 4]",
        "The shape of the mask [8] at index 0 does not match the shape of the indexed tensor [33, 2] at index 0",
        "maximum size for tensor at dimension 0 is 8 but size is 33",
        "q.shape[0] (8) does not match qo_indptr[-1] (33)",
        "start (0) + length (33) exceeds dimension size (8).",
        "value tensor of shape [33, 2] cannot be broadcast to indexing result of shape [8, 2]",
        "Expected size 8 but got size 33 for tensor number 1 in the list.",
        "AssertionError: 8 != 33",
        "assert 8 == 33",
    ],
)
def test_every_wording_gives_the_size_that_was_there_and_the_one_asked_for(text):
    assert [(size.had, size.wanted) for size in mismatches(text)] == [(8, 33)]


def test_the_dimension_is_kept():
    assert (
        mismatches("size of tensor a (8) must match the size of tensor b (33) at non-singleton dimension 1")[
            0
        ].dimension
        == 1
    )


def test_a_capacity_that_was_exceeded():
    [size] = mismatches("page_table: used 256001 > capacity 256000")

    assert (size.kind, size.had, size.wanted) == ("capacity", 256000, 256001)


def test_lengths_with_their_names():
    [size] = mismatches("length of new_indices: 5 != length of topk_p: 7, this should not happen")

    assert (size.kind, size.had, size.wanted, size.names) == ("lengths", 5, 7, ("new_indices", "topk_p"))


def test_a_view():
    [size] = mismatches("shape '[64, 5, -1]' is invalid for input of size 1835008")

    assert (size.kind, size.shape[:2], size.had, size.wanted) == ("view", (64, 5), 5, 1835008)


def test_matmul_gives_the_inner_sizes():
    [size] = mismatches("mat1 and mat2 shapes cannot be multiplied (4x12288 and 8192x4096)")

    assert (size.kind, size.had, size.wanted) == ("matmul", 8192, 12288)


def test_named_shapes_give_the_odd_one_out():
    [size] = mismatches("a.shape=torch.Size([2]) b.shape=torch.Size([2]) out.shape=torch.Size([6])")

    assert (size.kind, size.had, size.wanted, size.names) == ("named", 2, 6, ("a", "out"))


def test_a_bound():
    assert mismatches("`index out of bounds: 0 <= tl.broadcast_to(tmp10, [XBLOCK]) < 2048` failed")[0].had == 2048


@pytest.mark.parametrize("text", ["", "no numbers", "a.shape=[2] b.shape=[2]", "a.shape=[1] b.shape=[2] c.shape=[3]"])
def test_where_nothing_differs_there_is_none(text):
    assert mismatches(text) == ()


@given(st.text())
def test_never_raises(text):
    mismatches(text)
    mismatches(f"shape '[{text}]' is invalid for input of size 12")
