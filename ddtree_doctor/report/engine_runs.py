"""Runs of a whole engine as the report has them: how each answers beside the trusted one, without its texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ddtree_doctor.replay.engine_run import EngineRun, agreement, allowed, first_divergence, trusted_of
from ddtree_doctor.sanitize import sanitize

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["engine_run_objects", "engine_runs_table"]


def engine_run_objects(launch: int, runs: Sequence[EngineRun]) -> Iterator[dict[str, Any]]:
    """The report's `engine_runs` of one launch; `launch` is its index. Each is held against the trusted run."""
    trusted = trusted_of(runs)
    for run in runs:
        known = trusted is not None and not run.doubt
        first = first_divergence(trusted, run) if trusted and known else None
        yield {
            "launch": launch,
            "host": run.host,
            "algorithm": run.algorithm,
            "speculation": run.speculation,
            "graphs": run.graphs,
            "number": run.number,
            "backend": run.backend,
            "dtype": run.dtype,
            "prompts": len(run.texts),
            "tokens": sum(len(text.tokens) for text in run.texts),
            "agreement": _agreement(trusted, run) if known else "unknown",
            "first_divergence": asdict(first) if first else None,
            "allowed_gap": allowed(trusted) if trusted and known else None,
            "accept_length": run.accept_length,
            "replays": run.replays,
            "seconds": run.seconds,
            "unknown": run.doubt,
        }


def engine_runs_table(entries: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Speculation × graphs: whether the tokens are the same, and the accept length."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, title="whole engine", title_justify="left", title_style="bold")
    table.add_column("speculation", no_wrap=True)
    table.add_column("graphs", no_wrap=True)
    table.add_column("greedy tokens", overflow="fold")
    table.add_column("accept length", no_wrap=True)
    table.add_column("seconds", no_wrap=True)
    for entry in entries:
        again = f" (run {entry['number']})" if entry["number"] > 1 else ""
        table.add_row(
            Text(sanitize(entry["algorithm"] if entry["speculation"] else "off") + again),
            Text("on" if entry["graphs"] else "off"),
            Text(sanitize(_said(entry)), style=_STYLES[entry["agreement"]]),
            Text("" if entry["accept_length"] is None else f"{entry['accept_length']:.2f}"),
            Text(f"{entry['seconds']:.0f}"),
        )
    return table


_STYLES = {"trusted": "", "same": "", "tie": "", "differs": "bold red", "unknown": "yellow"}


def _agreement(trusted: EngineRun | None, run: EngineRun) -> str:
    return "trusted" if trusted is None or run is trusted else agreement(trusted, run)


def _said(entry: Mapping[str, Any]) -> str:
    how, parted = entry["agreement"], entry["first_divergence"]
    if how == "trusted":
        return f"{entry['tokens']} to {entry['prompts']} prompts, the reference"
    if how == "unknown":
        return f"unknown: {entry['unknown'] or 'there is no run to hold it against'}"
    if parted is None:
        return "the same"
    gap = "unknown" if parted["gap"] is None else f"{parted['gap']:.2g}"
    what = "a tie" if how == "tie" else "differ"
    return f"{what} from token {parted['position']} of prompt {parted['prompt']} on, logit gap there {gap}"
