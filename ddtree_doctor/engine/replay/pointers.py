"""Tables of addresses: SGLang hands a kernel all layers of a cache as one tensor of their addresses, of type uint64.

What such a launch may touch lies in the tensors that begin at these addresses. They are looked for among the tensors of
this process, once for each table: a cache stays where it is.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from functools import cache

import torch

__all__ = ["pointed"]


def pointed(table: torch.Tensor) -> Mapping[int, int]:
    """Address → extent in bytes of the longest tensor that begins there, for those addresses where one does."""
    return _found(tuple(table.flatten().tolist()))


@cache
def _found(addresses: tuple[int, ...]) -> Mapping[int, int]:
    wanted, found = set(addresses), dict[int, int]()
    for one in gc.get_objects():
        # By type, not isinstance: that would wake lazily imported modules, which answer for any class.
        if type(one) is torch.Tensor and one.device.type == "cpu" and one.data_ptr() in wanted:
            found[one.data_ptr()] = max(found.get(one.data_ptr(), 0), one.numel() * one.element_size())
    return found
