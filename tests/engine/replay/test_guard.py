"""Guard bands on CPU tensors: the same bands, canaries and looks as on a GPU."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.engine.replay.guard import BAND, CANARY, Guard

DTYPES = (torch.bool, torch.uint8, torch.int32, torch.int64, torch.float32, torch.bfloat16)


def stray(buffer: torch.Tensor, at: int) -> None:
    """Write the byte at `at`, counted from the buffer's first, wherever that is."""
    start = buffer.storage_offset() * buffer.element_size()
    whole = torch.empty(0, dtype=torch.uint8).set_(buffer.untyped_storage())
    whole[start + at] = 1


@given(
    st.lists(st.integers(0, 4), max_size=3),
    st.sampled_from(DTYPES),
    st.sampled_from(["zeros", "ones", "empty", "full", "new_zeros", "zeros_like", "clone"]),
)
def test_what_is_allocated_is_what_was_asked_for(shape: list[int], dtype: torch.dtype, how: str):
    make = {
        "full": lambda: torch.full(shape, 1, dtype=dtype),
        "new_zeros": lambda: torch.ones(1, dtype=dtype).new_zeros(shape),
        "zeros_like": lambda: torch.zeros_like(torch.ones(shape, dtype=dtype)),
        "clone": lambda: torch.ones(shape, dtype=dtype).clone(),
    }.get(how, lambda: getattr(torch, how)(shape, dtype=dtype))
    with Guard(device="cpu").allocating():
        guarded = make()
    plain = make()
    assert (guarded.shape, guarded.dtype, guarded.is_contiguous()) == (plain.shape, plain.dtype, True)
    assert how == "empty" or torch.equal(guarded, plain)


@given(st.integers(1, 40), st.integers(-BAND, BAND - 1))
def test_every_byte_beside_a_buffer_is_watched(size: int, distance: int):
    guard = Guard(device="cpu")
    with guard.allocating():
        buffer = torch.zeros(size, dtype=torch.uint8)
    assert guard.keep([("Runner.positions", buffer)]) == []
    at = distance if distance < 0 else size + distance
    stray(buffer, at)
    (access,) = guard.overwritten("captured/2")
    side = "before" if distance < 0 else "behind"
    assert (access.where, access.offset, access.size) == (f"guard band {side} Runner.positions", at, size)
    assert (access.access, access.scenario) == ("store", "captured/2")
    assert guard.overwritten("captured/4") == []


@given(st.integers(1, 40), st.data())
def test_a_write_inside_is_none_of_its_business(size: int, data: st.DataObject):
    guard = Guard(device="cpu")
    with guard.allocating():
        buffer = torch.zeros(size, dtype=torch.uint8)
    guard.keep([("Runner.positions", buffer)])
    stray(buffer, data.draw(st.integers(0, size - 1)))
    assert guard.overwritten("captured/2") == []


def test_what_was_overwritten_while_capturing_is_said_when_the_buffers_get_their_names():
    guard = Guard(device="cpu")
    with guard.allocating():
        buffer = torch.zeros(4)
    stray(buffer, 16)
    (access,) = guard.keep([("Runner.positions", buffer)])
    assert (access.offset, access.scenario) == (16, "capture")


def test_a_view_into_a_buffer_names_it_and_what_nobody_names_is_forgotten():
    guard = Guard(device="cpu")
    with guard.allocating():
        buffer, temporary = torch.zeros(8), torch.zeros(8)
    guard.keep([("Backend.mask", buffer[4:]), ("Runner.mask", buffer)])
    assert [one.name for one in guard.buffers] == ["Backend.mask"]
    stray(temporary, 32)
    assert guard.overwritten("grow") == []


def test_outside_the_block_and_on_another_device_nothing_is_guarded():
    guard = Guard(device="cuda")
    with guard.allocating():
        torch.zeros(4)
    assert guard.buffers == []


@pytest.mark.parametrize("inside", [True, False])
def test_a_read_of_a_band_is_no_plausible_number(inside: bool):
    with Guard(device="cpu").allocating():
        buffer = torch.zeros(4, dtype=torch.int64)
    start = buffer.storage_offset() + (0 if inside else 4)
    value = torch.empty(0, dtype=torch.int64).set_(buffer.untyped_storage(), start, (1,)).item()
    assert value == (0 if inside else int.from_bytes(bytes([CANARY] * 8), "little"))


def captured(monkeypatch: pytest.MonkeyPatch, guard: Guard, graph: str) -> torch.Tensor:
    """A tensor that `graph` allocates while it captures."""
    with monkeypatch.context() as during, guard.capturing(graph):
        during.setattr("ddtree_doctor.engine.replay.allocations._capturing", lambda made: True)
        return torch.zeros(4)


def test_an_intermediate_is_looked_at_after_its_own_graphs_replay_alone(monkeypatch: pytest.MonkeyPatch):
    """Graphs share memory: another's replay may write there."""
    guard = Guard(device="cpu")
    inside = captured(monkeypatch, guard, "2 requests")
    stray(inside, 16)
    assert guard.overwritten("captured/1") == []
    guard.replayed = "1 request"
    assert guard.overwritten("captured/1") == []
    guard.replayed = "2 requests"
    (access,) = guard.overwritten("captured/2")
    assert access.where.startswith("guard band behind the tensor that ")
    assert guard.replayed is None


def test_static_buffers_are_left_alone_while_a_graph_captures(monkeypatch: pytest.MonkeyPatch):
    guard = Guard(device="cpu")
    monkeypatch.setattr("ddtree_doctor.engine.replay.allocations._capturing", lambda made: True)
    with guard.allocating():
        torch.zeros(4)
    assert guard.buffers == []
