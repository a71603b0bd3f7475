"""pytest collects launch files: `pytest --doctor launches/*.sh` makes one test of every check on every launch.

A finding that blocks and an UNKNOWN in a required check fail the test; warnings are shown with the test; what was not
judged or does not apply is skipped with its reason. Loading this module imports none of torch, sglang and rich.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from ddtree_doctor.tiers import TIERS

if TYPE_CHECKING:
    from pathlib import Path

    from ddtree_doctor.judge import Outcome

__all__ = ["pytest_addoption", "pytest_collect_file"]

SUFFIXES = (".sh", ".txt", ".yaml", ".yml", ".service", ".slurm")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--doctor` and what `doctor check` offers under the same names."""
    group = parser.getgroup("doctor", "ddtree-doctor: launch files as tests")
    group.addoption("--doctor", action="store_true", help="collect launch files and judge each with ddtree-doctor")
    group.addoption("--doctor-tier", choices=TIERS, help="as for `doctor check --tier`")
    group.addoption("--doctor-plugin", metavar="NAME", help="as for `doctor check --plugin`")
    group.addoption("--doctor-gpu", metavar="SPEC", help="as for `doctor check --gpu`")
    group.addoption("--doctor-timeout", type=float, default=600.0, metavar="S", help="seconds that a probe may take")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A launch file becomes a collector where `--doctor` is given."""
    if not parent.config.getoption("--doctor") or file_path.suffix not in SUFFIXES:
        return None
    file: LaunchFile = LaunchFile.from_parent(parent, path=file_path)
    return file


class LaunchFile(pytest.File):
    """A file with launches; collecting it judges them, one engine start for each launch at the shape tier."""

    def collect(self) -> Iterator[pytest.Item]:
        """One item for each launch and check."""
        from ddtree_doctor.errors import DoctorError

        try:
            examined = self._examined()
        except DoctorError as refused:
            raise self.CollectError(str(refused)) from refused
        for index, one in enumerate(examined, 1):
            for outcome in one.outcomes:
                name = f"{outcome.check.code}-{outcome.check.slug()}" + (
                    f"[launch {index}]" if len(examined) > 1 else ""
                )
                yield CheckItem.from_parent(self, name=name, outcome=outcome)

    def _examined(self) -> tuple[Any, ...]:
        from ddtree_doctor.cli.subject import installed_root, read_subject
        from ddtree_doctor.examination import Plan, deepest, judged, probed

        option = self.config.getoption
        plugin = option("--doctor-plugin")
        asked = {"launch": str(self.path), "plugin": plugin, "gpu": option("--doctor-gpu")}
        facts = read_subject(Namespace(**asked, command=None, sglang=None, target_config=None, draft_config=None))
        tier = option("--doctor-tier") or deepest(facts[0], installed_root())
        plan = Plan(tier=tier, plugin=plugin, deadline=option("--doctor-timeout"))
        return judged(probed(facts, plan), plan)


class CheckFailed(Exception):
    """A check blocks the launch; the text is what a person needs."""


class CheckItem(pytest.Item):
    """One check on one launch."""

    def __init__(self, *, outcome: Outcome, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.outcome = outcome

    def runtest(self) -> None:
        """Pass, skip with the reason, or raise CheckFailed."""
        from ddtree_doctor.judge import verdict

        outcome = self.outcome
        text = "\n\n".join(_text(finding) for finding in outcome.findings)
        if verdict([outcome]) != "ready":
            raise CheckFailed(text or f"not judged: {outcome.reason}")
        if outcome.status in ("unknown", "skipped"):
            pytest.skip(f"{outcome.status}: {outcome.reason}")
        if text:
            self.add_report_section("call", "doctor", text)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The finding alone: a traceback through the doctor helps nobody."""
        return str(excinfo.value) if isinstance(excinfo.value, CheckFailed) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the user set what the first finding is about."""
        line = next((finding.location.line for finding in self.outcome.findings), None)
        return self.path, None if line is None else line - 1, self.name


def _text(finding: Any) -> str:
    from ddtree_doctor.sanitize import sanitize

    place = f" ({finding.location.file}:{finding.location.line})" if finding.location.file else ""
    lines = [f"{finding.severity} {finding.code} {finding.subject}{place}", finding.message, finding.why]
    return sanitize("\n".join([*lines, *(f"fix: {fix}" for fix in finding.fix)]))
