"""Every static tensor that a runner owns or that its attention backend keeps for graphs, with its owner's class."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from ddtree_doctor.ledger import Buffer

__all__ = ["buffers_of", "held_tensors"]

_DEPTH = 3
_OWN_MODULES = ("sglang.srt.layers.attention", "sglang.srt.model_executor", "sglang.srt.speculative")
"""Where classes are that hold buffers; anything else that a runner points at is not its own."""

_NOT_OWNED = frozenset(
    "model_runner eagle_worker draft_worker target_worker model backend buffer_registry forward_metadata".split()
)
"""Attributes that lead to another owner, to the same storage again, or to the metadata of the last capture alone."""


def buffers_of(*owners: Any) -> tuple[Buffer, ...]:
    """The tensors of `owners` and of what they hold, each once, by owner and name."""
    found = [_buffer(*held) for held in held_tensors(*owners)]
    return tuple(sorted(found, key=lambda buffer: (buffer.owner, buffer.name, buffer.shape)))


def held_tensors(*owners: Any) -> Iterator[tuple[str, str, torch.Tensor]]:
    """(owner's class, attribute, tensor) of `owners` and of what they hold, each owner once."""
    seen: set[int] = set()
    for owner in owners:
        if owner is not None:
            yield from _held(owner, seen, _DEPTH)


def _held(owner: Any, seen: set[int], depth: int) -> Iterator[tuple[str, str, torch.Tensor]]:
    if id(owner) in seen:
        return
    seen.add(id(owner))
    for name, value in _attributes(owner):
        if isinstance(value, torch.Tensor):
            yield type(owner).__name__, name, value
        elif isinstance(value, list | tuple | Mapping):
            yield from _collected(type(owner).__name__, name, value, seen, depth)
        elif depth and name not in _NOT_OWNED and _holds_buffers(value):
            yield from _held(value, seen, depth - 1)


def _collected(
    owner: str, name: str, values: Any, seen: set[int], depth: int
) -> Iterator[tuple[str, str, torch.Tensor]]:
    """Tensors and holders in a list, tuple or mapping; tensors are named after the attribute that holds them."""
    for value in values.values() if isinstance(values, Mapping) else values:
        if isinstance(value, torch.Tensor):
            yield owner, name, value
        elif depth and _holds_buffers(value):
            yield from _held(value, seen, depth - 1)


def _holds_buffers(value: Any) -> bool:
    return type(value).__module__.startswith(_OWN_MODULES) and not isinstance(value, torch.nn.Module)


def _attributes(owner: Any) -> Iterator[tuple[str, Any]]:
    names = list(getattr(owner, "__dict__", {}))
    if dataclasses.is_dataclass(owner):
        names += [field.name for field in dataclasses.fields(owner)]
    names += list(getattr(type(owner), "__struct_fields__", ()))
    for name in dict.fromkeys(names):
        yield name, getattr(owner, name, None)


def _buffer(owner: str, name: str, tensor: torch.Tensor) -> Buffer:
    return Buffer(
        name=name,
        shape=tuple(tensor.shape),
        dtype=str(tensor.dtype).removeprefix("torch."),
        bytes=tensor.numel() * tensor.element_size(),
        owner=owner,
    )
