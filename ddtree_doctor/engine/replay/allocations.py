"""Every allocation that Python asks torch for, wherever in SGLang, handed to a function that may give another tensor.

Seam: torch's function modes see `torch.zeros`, `Tensor.new_empty` and the like under any name and device context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

__all__ = ["changing_allocations"]

ALLOCATIONS = frozenset(
    {torch.zeros, torch.empty, torch.ones, torch.full}
    | {torch.zeros_like, torch.empty_like, torch.ones_like, torch.full_like}
    | {torch.Tensor.new_zeros, torch.Tensor.new_empty, torch.Tensor.new_ones, torch.Tensor.new_full}
    | {torch.Tensor.clone}
)


@contextmanager
def changing_allocations(
    device: str, change: Callable[[torch.Tensor], torch.Tensor], *, captured: bool = False
) -> Iterator[None]:
    """Give the caller `change(made)` for each dense, contiguous tensor that is made on a device of this type.

    `captured` means those that a CUDA graph allocates in its pool while it captures; else those are left alone.
    """
    with _Mode(device, change, captured):
        yield


class _Mode(TorchFunctionMode):
    def __init__(self, device: str, change: Callable[[torch.Tensor], torch.Tensor], captured: bool) -> None:
        super().__init__()
        self.device = device
        self.change = change
        self.captured = captured

    def __torch_function__(
        self, func: Any, types: Sequence[Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        return self.change(out) if func in ALLOCATIONS and self._is_buffer(out) else out

    def _is_buffer(self, out: Any) -> bool:
        return (
            isinstance(out, torch.Tensor)
            and out.device.type == self.device
            and out.layout == torch.strided
            and out.numel() > 0
            and out.is_contiguous()
            and not out.requires_grad
            and self.captured == _capturing(out)
        )


def _capturing(made: torch.Tensor) -> bool:
    return made.is_cuda and torch.cuda.is_current_stream_capturing()
