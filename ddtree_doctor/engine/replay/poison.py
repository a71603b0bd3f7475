"""Static buffers filled with valid but wrong values before a replay: what an earlier, larger batch may have left.

Values that no batch could have left (NaN ids, negative slots) would be a false alarm where an engine leaves padded rows
as they are and nothing reads them. A victim makes stale rows visible: stale slots write over committed tokens, stale
rows read another request's.
"""

from __future__ import annotations

from typing import Any

from ddtree_doctor.engine import seams

__all__ = ["Poison"]


class Poison:
    """Wrong values for the buffers of one graph runner."""

    def __init__(self, graphs: Any, *, vocabulary: int, longest: int) -> None:
        self.buffers = seams.field(graphs, "runner's buffers")
        self.vocabulary = vocabulary
        self.longest = longest

    def spill(self, *, victim_slot: int, victim_row: int, turn: int) -> None:
        """Fill the buffers; `turn` varies the values between replays that must agree."""
        wrong = {
            "input_ids": self.vocabulary - 1 - turn,
            "positions": self.longest - 1 - turn,
            "seq_lens": self.longest - turn,
            "seq_lens_cpu": self.longest - turn,
            "out_cache_loc": victim_slot,
            "req_pool_indices": victim_row,
        }
        for name, value in wrong.items():
            buffer = getattr(self.buffers, name, None)
            if buffer is not None:
                buffer.fill_(value)
