"""The architecture matrix for a person: a row an algorithm and backend, a column an architecture, details below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["details", "print_arch_matrix", "short"]

STYLES = {"passed": "green", "failed": "bold red", "unknown": "yellow", "reported": "yellow", "blank": "dim"}
SHORT = {"passed": "ok", "failed": "fail", "unknown": "?"}
LEGEND = "ok N, fail N, ? N: measured, and in how many cells; rep N: N faults reported; ·: nothing known"
SHOWN = 8


def print_arch_matrix(cells: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print the cells of `arch_matrix`; rows of which nothing is known are left out and counted."""
    from rich.table import Table
    from rich.text import Text

    archs = list(dict.fromkeys(cell["arch"] for cell in cells))
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for cell in cells:
        rows.setdefault(f"{cell['algorithm']} {cell['backend']}", []).append(cell)
    known = {name: row for name, row in rows.items() if any(cell["state"] != "blank" for cell in row)}
    table = Table("", *archs, title="measured or reported, by GPU architecture", padding=(0, 1), box=None)
    for name, row in known.items():
        table.add_row(name, *(Text(short(cell), style=STYLES[cell["state"]]) for cell in row))
    console.print(table)
    console.print(LEGEND, style="dim")
    if blank := len(rows) - len(known):
        console.print(f"{blank} other combinations: nothing known", style="dim")
    for line in details(cells):
        console.print(line)


def short(cell: Mapping[str, Any]) -> str:
    """`ok 24`, `fail 2`, `rep 1` or `·`: the worst that was measured, else what is reported."""
    if cell["measured"]:
        count = sum(one["verdict"] == cell["state"] for one in cell["measured"])
        return f"{SHORT[cell['state']]} {count}"
    return f"rep {len(cell['reported'])}" if cell["reported"] else "·"


def details(cells: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A line for each measured combination, and one for each architecture's reports."""
    reported: dict[str, dict[str, None]] = {}
    for cell in cells:
        if cell["measured"]:
            yield _measured(cell)
        reported.setdefault(cell["arch"], {}).update(dict.fromkeys(cell["reported"]))
    for arch, ids in reported.items():
        if ids:
            yield f"reported on {arch}: {', '.join(sorted(ids))}"


def _measured(cell: Mapping[str, Any]) -> str:
    """`sm_90, NGRAM on triton: 24 passed; widths 9, 10, … pages 1, 16, 64; SGLang 0.5.17, NVIDIA H200, 2026-11-29`."""
    seen = cell["measured"]
    verdicts = Counter(one["verdict"] for one in seen)
    said = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
    why = next((one["unknown"] for one in seen if one["verdict"] == "unknown"), "")
    widths, pages = ({one[name] for one in seen} for name in ("width", "page_size"))
    newest = max(seen, key=lambda one: one["date"])
    return (
        f"{cell['arch']}, {cell['algorithm']} on {cell['backend']}: {said}"
        + (f" ({why[:120]})" if why else "")
        + f"; widths {_listed(widths)}; pages {_listed(pages)}; "
        f"SGLang {newest['sglang']}, {newest['gpu']}, {newest['date']}"
    )


def _listed(numbers: set[int]) -> str:
    ordered = sorted(numbers)
    return ", ".join(map(str, ordered[:SHOWN])) + (" …" if len(ordered) > SHOWN else "")
