"""The report for a person at a terminal: verdict first, findings by severity with fix, then what was not judged.

All text goes through `rich.text.Text` after `sanitize`: markup or escape codes in a launch file or a log never reach
the terminal as such. Colour never carries meaning alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ddtree_doctor.report.behaviours import behaviour_line
from ddtree_doctor.report.engine_runs import engine_runs_table
from ddtree_doctor.sanitize import sanitize

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

__all__ = ["finding_lines", "headline", "print_report", "widths"]

VERDICTS = {
    "ready": ("READY", "bold black on green"),
    "blocked": ("BLOCKED", "bold white on red"),
    "unknown": ("NOT JUDGED", "bold black on yellow"),
}
MARKS = {"error": ("✖ error", "bold red"), "warning": ("▲ warning", "yellow"), "info": ("· info", "cyan")}
INDENT = 4
SIZES_SHOWN = 8


def print_report(report: Mapping[str, Any], console: Console, *, verbose: bool = False) -> None:
    """Print the report; `verbose` adds every check with its status and reason."""
    for block in _blocks(report, verbose):
        console.print(block)


def _blocks(report: Mapping[str, Any], verbose: bool) -> Iterator[RenderableType]:
    yield headline(report)
    for index, launch in enumerate(report["launches"]):
        yield from _launch(report, index, launch)
    yield from _substituted(report)
    yield from _unjudged(report)
    if verbose:
        yield _checks(report)
    yield _closing(report)


def headline(report: Mapping[str, Any]) -> RenderableType:
    """Verdict, counts, engine and tier on one line."""
    from rich.text import Text

    word, style = VERDICTS[report["verdict"]]
    errors = sum(finding["severity"] == "error" for finding in report["findings"])
    warnings = sum(finding["severity"] == "warning" for finding in report["findings"])
    tail = f"  {_plural(errors, 'error')}, {_plural(warnings, 'warning')}"
    return Text.assemble((f" {word} ", style), tail, _engine(report))


def _engine(report: Mapping[str, Any]) -> str:
    engine = report["engine"] or {}
    if not engine.get("version"):
        return "  · no SGLang found"
    plugins = "".join(f" + {name}" for name in engine["plugins"])
    return f"  · SGLang {engine['version']}{' (fork)' if engine['fork'] else ''}{plugins} · tier {report['tier']}"


def _launch(report: Mapping[str, Any], index: int, launch: Mapping[str, Any]) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    yield Text("")
    yield Text.assemble(("launch ", "dim"), _place(launch["file"], launch["line"]), (f"  {_summary(launch)}", "dim"))
    for finding in report["findings"]:
        if finding["launch"] == index:
            yield Text("")
            yield from finding_lines(finding)
    rows = [row for row in report["ledger"] if row["launch"] == index]
    if rows:
        yield Text("")
        yield Padding(widths(rows), (0, 0, 0, 2))
    yield from _replayed([seen for seen in report["behaviours"] if seen["launch"] == index])
    runs = [run for run in report["engine_runs"] if run["launch"] == index]
    if runs:
        yield Text("")
        yield Padding(engine_runs_table(runs), (0, 0, 0, 2))


def _replayed(behaviours: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """A line for each role that was replayed."""
    from rich.padding import Padding
    from rich.text import Text

    if behaviours:
        yield Text("")
        yield Padding(Text("replayed", style="bold"), (0, 0, 0, 2))
    for seen in behaviours:
        yield Padding(Text(sanitize(behaviour_line(seen))), (0, 0, 0, 2))


def _summary(launch: Mapping[str, Any]) -> str:
    words = [launch["algorithm"] or "no speculation", launch["model"] or "model unknown"]
    words += [f"{key} {launch[key]}" for key in ("budget", "block_size", "num_draft_tokens", "tp") if launch[key]]
    return sanitize(" · ".join(words))


def finding_lines(finding: Mapping[str, Any]) -> Iterator[RenderableType]:
    """One finding: severity, code and place, what was seen, why it breaks, what to change, how to hide it."""
    from rich.padding import Padding
    from rich.text import Text

    mark, style = MARKS[finding["severity"]]
    place = _place(finding["location"]["file"], finding["location"]["line"])
    head = (f"{mark} {finding['code']} {finding['name']}", style)
    yield Text.assemble("  ", head, f"  {sanitize(finding['subject'])}", (f"  {place}", "dim"))
    yield Padding(Text(sanitize(finding["message"])), (0, 0, 0, INDENT))
    yield Padding(Text.assemble(("why  ", "dim"), sanitize(finding["why"])), (0, 0, 0, INDENT))
    for fix in finding["fix"]:
        yield Padding(Text.assemble(("fix  ", "bold green"), sanitize(fix)), (0, 0, 0, INDENT))
    if finding["status"] == "failed":
        yield Padding(Text(f"to hide this one: --ignore {finding['code']}", style="dim"), (0, 0, 0, INDENT))


def widths(rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Roles with the tokens per request that are expected and observed, and the sizes captured."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, title="tokens per request", title_justify="left", title_style="bold")
    table.add_column("role", no_wrap=True)
    table.add_column("expected", no_wrap=True)
    table.add_column("observed", no_wrap=True)
    table.add_column("graphs for batch sizes", overflow="fold")
    for row in rows:
        seen = f"unknown: {sanitize(row['unknown'])}" if row["unknown"] else str(row["tokens_per_bs"])
        agree = row["tokens_per_bs"] == row["expected_tokens_per_bs"]
        observed = Text(seen, style="" if agree else "bold red" if not row["unknown"] else "yellow")
        table.add_row(
            Text(f"{row['algorithm']}/{row['role']}"),
            Text(str(row["expected_tokens_per_bs"] or "?")),
            observed,
            Text(_sizes(row["capture_bs"])),
        )
    return table


def _sizes(sizes: Sequence[int]) -> str:
    if len(sizes) <= SIZES_SHOWN:
        return " ".join(map(str, sizes))
    return f"{len(sizes)} sizes, {min(sizes)} to {max(sizes)}"


def _substituted(report: Mapping[str, Any]) -> Iterator[RenderableType]:
    """What the probes put in place of the deployment, each once however many launches there are."""
    from rich.padding import Padding
    from rich.text import Text

    lines = list(dict.fromkeys(line for launch in report["launches"] for line in launch["substituted"]))
    if lines:
        yield Text("")
        yield Text("The engine ran here, on a CPU, with these in place of your deployment's:", style="dim")
    for line in lines:
        yield Padding(Text(sanitize(line), style="dim"), (0, 0, 0, 2))


def _unjudged(report: Mapping[str, Any]) -> Iterator[RenderableType]:
    from rich.text import Text

    unknown = [check for check in report["checks"] if check["status"] == "unknown"]
    if unknown:
        yield Text("")
        yield Text("Not judged, because something is not known:", style="yellow")
    by_reason: dict[str, list[str]] = {}
    for check in unknown:
        by_reason.setdefault(check["reason"], []).append(check["code"])
    for reason, codes in by_reason.items():
        yield Text(f"  {', '.join(dict.fromkeys(codes))}: {sanitize(reason)}")


def _checks(report: Mapping[str, Any]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table("check", "status", "reason", box=None, pad_edge=False)
    for check in report["checks"]:
        table.add_row(
            Text(f"{check['code']} {check['name']}"),
            Text(check["status"]),
            Text(sanitize(check["reason"]), style="dim"),
        )
    return table


def _closing(report: Mapping[str, Any]) -> RenderableType:
    from rich.text import Text

    counts = report["counts"]
    return Text(
        f"\n{counts['ran']} checks ran: {counts['passed']} passed, {counts['failed']} failed, "
        f"{counts['unknown']} unknown; {counts['skipped']} skipped.",
        style="dim",
    )


def _place(file: str | None, line: int | None) -> str:
    if file is None:
        return "(command line)"
    return sanitize(file if line is None else f"{file}:{line}")


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
