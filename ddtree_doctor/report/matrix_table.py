"""The matrix for a person: one table of every algorithm × role, then findings as in any report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ddtree_doctor.report.console import finding_lines, headline, widths
from ddtree_doctor.sanitize import sanitize

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["print_matrix"]


def print_matrix(report: Mapping[str, Any], console: Console) -> None:
    """Print verdict, table, findings, and the algorithms of which nothing was observed with the reason."""
    from rich.text import Text

    console.print(headline(report))
    console.print()
    console.print(widths(report["ledger"]))
    for finding in report["findings"]:
        console.print()
        for line in finding_lines(finding):
            console.print(line)
    for launch in report["launches"]:
        if launch["probe"] and launch["probe"]["unknown"]:
            why = sanitize(launch["probe"]["unknown"])
            console.print(Text(f"{launch['algorithm'] or 'NONE'}: not observed: {why}", style="yellow"))
