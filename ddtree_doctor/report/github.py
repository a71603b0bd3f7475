"""GitHub workflow annotations (`::error file=…::…`), most severe first, within the number that GitHub shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ddtree_doctor.sanitize import sanitize

__all__ = ["SHOWN", "to_github"]

SHOWN = 10
"""Annotations of one kind that GitHub shows for one step (https://github.com/orgs/community/discussions/26680)."""

COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def to_github(report: Mapping[str, Any]) -> str:
    """One annotation a line; what exceeds SHOWN of a kind is counted on a last line."""
    lines: list[str] = []
    for severity, command in COMMANDS.items():
        found = [finding for finding in report["findings"] if finding["severity"] == severity]
        lines += [_annotation(command, finding) for finding in found[:SHOWN]]
        if len(found) > SHOWN:
            lines.append(f"::notice::{len(found) - SHOWN} more findings of severity {severity}, see the report")
    counts = report["counts"]
    lines.append(
        f"ddtree-doctor: {report['verdict']}; {counts['ran']} checks ran, {counts['failed']} failed, "
        f"{counts['unknown']} unknown, {counts['skipped']} skipped"
    )
    return "\n".join(lines) + "\n"


def _annotation(command: str, finding: Mapping[str, Any]) -> str:
    location = finding["location"]
    properties = {"title": f"{finding['code']} {finding['name']}", "file": location["file"], "line": location["line"]}
    given = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items() if value is not None)
    fixes = "".join(f"\nFix: {fix}" for fix in finding["fix"])
    return f"::{command} {given}::{_data(finding['subject'] + ': ' + finding['message'] + fixes)}"


def _data(text: str) -> str:
    return sanitize(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
