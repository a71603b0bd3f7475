"""Ledgers of the launches that the mutants name, two launches at a time, and the count of mutants killed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.mutants.observed import Observed


@pytest.fixture(scope="session")
def observed(request: pytest.FixtureRequest) -> Iterator[Observed]:
    """What the mutants of the selected tests do; each launch is opened once, when the first test asks."""
    asked = [item.callspec.params for item in request.session.items if "observed" in getattr(item, "fixturenames", ())]
    with Observed(
        mutants={params["name"] for params in asked if "name" in params},
        groups={params["group"] for params in asked if "group" in params},
    ) as running:
        yield running


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """`mutants: 28 killed of 28`."""
    ends = {
        status: [report for report in terminalreporter.stats.get(status, ()) if ("mutant", True) in _properties(report)]
        for status in ("passed", "failed", "error")
    }
    if total := sum(map(len, ends.values())):
        terminalreporter.write_line(f"mutants: {len(ends['passed'])} killed of {total}")


def _properties(report: object) -> list[tuple[str, object]]:
    return getattr(report, "user_properties", [])
