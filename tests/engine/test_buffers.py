"""Buffers: every tensor of an owner and of what it holds, once, with its owner's class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from ddtree_doctor.engine.buffers import buffers_of  # noqa: E402
from ddtree_doctor.ledger import Buffer  # noqa: E402

pytestmark = pytest.mark.engine
ENGINE = "sglang.srt.layers.attention.invented"


@dataclass
class Inputs:
    input_ids: Any
    absent: Any = None


class Mask:
    __module__ = ENGINE

    def __init__(self, numel: int) -> None:
        self.buffer = torch.zeros(numel, dtype=torch.uint8)


class Step:
    __module__ = ENGINE

    def __init__(self) -> None:
        self.kv_indptr = torch.zeros(3, dtype=torch.int32)


class Attention:
    __module__ = ENGINE

    def __init__(self) -> None:
        self.verify_mask, self.steps = Mask(7), [Step(), Step()]
        self.model_runner = Mask(99)
        self.model = torch.nn.Linear(2, 2)
        self.slices = {"a": torch.zeros(2, 2)}
        self.myself = self


def found(*owners: Any) -> dict[tuple[str, str], Buffer]:
    return {(buffer.owner, buffer.name): buffer for buffer in buffers_of(*owners)}


def test_a_tensor_has_its_shape_type_and_bytes():
    buffer = found(Inputs(torch.zeros(4, 3, dtype=torch.int64)))["Inputs", "input_ids"]
    assert (buffer.shape, buffer.dtype, buffer.bytes) == ((4, 3), "int64", 96)


def test_what_an_owner_holds_counts_and_what_it_only_points_at_does_not():
    assert set(found(Attention())) == {("Mask", "buffer"), ("Step", "kv_indptr"), ("Attention", "slices")}
    assert found(Attention())["Mask", "buffer"].shape == (7,)


def test_each_step_of_a_backend_has_its_own():
    assert [buffer.owner for buffer in buffers_of(Attention())].count("Step") == 2


def test_an_owner_named_twice_is_walked_once():
    inputs = Inputs(torch.zeros(1))
    assert buffers_of(inputs, None, inputs) == buffers_of(inputs)
