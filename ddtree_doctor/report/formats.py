"""The machine formats of a report: a table of option name → function from report object to text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ddtree_doctor.report.github import to_github
from ddtree_doctor.report.junit import to_junit
from ddtree_doctor.report.markdown import to_markdown
from ddtree_doctor.report.sarif import to_sarif

__all__ = ["FORMATS", "to_json"]


def to_json(report: Mapping[str, Any]) -> str:
    """The object itself; keys in the order of the schema, no NaN, one newline at the end."""
    return json.dumps(report, indent=2, allow_nan=False) + "\n"


FORMATS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "json": to_json,
    "junit": to_junit,
    "sarif": to_sarif,
    "markdown": to_markdown,
    "github": to_github,
}
