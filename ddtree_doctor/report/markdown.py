"""Markdown for an issue tracker or a step summary: verdict, findings with fix, ledger, what was not judged."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ddtree_doctor.sanitize import sanitize

__all__ = ["CAP", "to_markdown"]

CAP = 1_000_000
"""Characters kept: a GitHub step summary holds at most 1 MiB."""

MARKS = {"error": "❌ error", "warning": "⚠️ warning", "info": "ℹ️ info"}


def to_markdown(report: Mapping[str, Any]) -> str:
    """The report as Markdown, cut with a notice at CAP characters."""
    text = "\n".join(_lines(report)) + "\n"
    return text if len(text) <= CAP else text[:CAP] + "\n\n… cut: the whole report is in the JSON output\n"


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    counts = report["counts"]
    yield f"## ddtree-doctor: {report['verdict'].upper()}"
    yield ""
    yield (
        f"{counts['ran']} checks ran (tier {report['tier']}): {counts['passed']} passed, {counts['failed']} failed, "
        f"{counts['unknown']} unknown, {counts['skipped']} skipped."
    )
    for launch in report["launches"]:
        yield ""
        yield f"Launch: {_code(launch['command'])}"
    yield from _findings(report)
    yield from _ledger(report)
    yield from _unjudged(report)


def _findings(report: Mapping[str, Any]) -> Iterator[str]:
    for finding in report["findings"]:
        place = finding["location"]
        where = f" ({_inline(place['file'])}:{place['line']})" if place["file"] else ""
        yield ""
        head = f"{MARKS[finding['severity']]} {finding['code']} {finding['name']}"
        yield f"### {head}: {_inline(finding['subject'])}{where}"
        yield ""
        yield f"{_inline(finding['message'])}"
        yield ""
        yield f"Why: {_inline(finding['why'])}"
        yield ""
        yield from (f"- fix: {_code(fix)}" for fix in finding["fix"])
        yield from (f"- see {reference}" for reference in finding["references"])


def _ledger(report: Mapping[str, Any]) -> Iterator[str]:
    if not report["ledger"]:
        return
    yield from ("", "| algorithm / role | runner | expected width | observed width |", "|---|---|---|---|")
    for row in report["ledger"]:
        observed = row["tokens_per_bs"] if not row["unknown"] else f"unknown: {_inline(row['unknown'])}"
        expected = row["expected_tokens_per_bs"]
        yield f"| {row['algorithm']}/{row['role']} | {row['runner']} | {expected} | {observed} |"


def _unjudged(report: Mapping[str, Any]) -> Iterator[str]:
    unknown = [check for check in report["checks"] if check["status"] == "unknown"]
    if unknown:
        yield from ("", "Not judged:", "")
        yield from (f"- {check['code']} {check['name']}: {_inline(check['reason'])}" for check in unknown)


def _inline(text: str) -> str:
    """Text that cannot open a tag, a link, a table cell or a code span."""
    flat = html.escape(sanitize(text).replace("\n", " "), quote=False)
    return re.sub(r"([\\`*_\[\]|])", r"\\\1", flat)


def _code(text: str) -> str:
    """A code span with a fence longer than any run of backticks inside."""
    flat = sanitize(text).replace("\n", " ")
    fence = "`" * (max((len(run) for run in re.findall("`+", flat)), default=0) + 1)
    return f"{fence} {flat} {fence}" if "`" in flat else f"{fence}{flat}{fence}"
