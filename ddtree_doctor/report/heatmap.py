"""The sweep for a person: one row a budget, one column an attention-TP size, lost batch sizes in words and colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["print_heatmap", "spans"]

SHADES = ((0.0, "black on green"), (0.3, "black on yellow"), (1.0, "white on red"))
SPANS_SHOWN = 3


def print_heatmap(cells: Sequence[Mapping[str, Any]], console: Console, *, max_bs: int) -> None:
    """Print the cells of `sweep`; `max_bs` is the largest configured batch size, for the share that is lost."""
    from rich.table import Table
    from rich.text import Text

    ranks = list(dict.fromkeys(cell["attn_tp"] for cell in cells))
    by_budget: dict[int, list[Mapping[str, Any]]] = {}
    for cell in cells:
        by_budget.setdefault(cell["budget"], []).append(cell)
    table = Table("budget", "width", *(f"attn-TP {rank}" for rank in ranks), title="batch sizes without a graph")
    for budget, row in by_budget.items():
        texts = (Text(f" {spans(cell['lost_bs']) or 'none'} ", style=_shade(cell, max_bs)) for cell in row)
        table.add_row(str(budget), str(row[0]["width"]), *texts)
    console.print(table)


def spans(numbers: Sequence[int]) -> str:
    """`1-7, 9-15, 17-23 … (42)` for a rising sequence of numbers."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    words = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    if len(words) <= SPANS_SHOWN:
        return ", ".join(words)
    return f"{', '.join(words[:SPANS_SHOWN])} … ({len(numbers)})"


def _shade(cell: Mapping[str, Any], max_bs: int) -> str:
    share = len(cell["lost_bs"]) / max_bs
    return next((style for limit, style in SHADES if share <= limit), SHADES[-1][1])
