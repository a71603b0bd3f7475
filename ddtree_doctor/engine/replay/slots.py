"""Which KV slots hold which token: pages in shuffled order, so that no slot follows from a position by accident."""

from __future__ import annotations

import random

import torch

__all__ = ["Slots"]


class Slots:
    """Hands out pages of KV slots to requests and enters them in the engine's table of request and position.

    Request `slot` sits in row `slot` + 1 of the table: row 0 is the padding's. Page 0 is the padding's too.
    """

    def __init__(self, table: torch.Tensor, tokens: int, page_size: int, seed: int = 0) -> None:
        self.table = table
        self.page_size = page_size
        self.free = list(range(1, tokens // page_size))
        random.Random(seed).shuffle(self.free)
        self.pages: dict[int, list[int]] = {}

    def row(self, slot: int) -> int:
        """The request's row in the engine's table."""
        return slot + 1

    def of(self, slot: int, length: int) -> torch.Tensor:
        """The KV slots of the request's first `length` positions, int64; more pages are taken as needed.

        Raises MemoryError where the pool has no page left.
        """
        pages = self.pages.setdefault(slot, [])
        while len(pages) * self.page_size < length:
            if not self.free:
                raise MemoryError(f"KV pool: no page of {self.page_size} slots is left for request {slot}")
            pages.append(self.free.pop())
        starts = torch.tensor(pages, device=self.table.device).repeat_interleave(self.page_size) * self.page_size
        offsets = torch.arange(self.page_size, device=self.table.device).repeat(len(pages))
        found = (starts + offsets)[:length]
        self.table[self.row(slot), :length] = found.to(self.table.dtype)
        return found

    def share(self, source: int, slot: int, length: int) -> None:
        """Let `slot` read the first `length` positions of `source`, whole pages of them by reference."""
        self.table[self.row(slot), :length] = self.table[self.row(source), :length]

    def release(self, slot: int) -> None:
        """Give a request's pages back, to be taken again last."""
        self.free[:0] = self.pages.pop(slot, [])
