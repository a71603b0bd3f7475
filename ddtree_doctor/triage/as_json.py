"""The report as JSON."""

from __future__ import annotations

import json

from ddtree_doctor.triage.report import TriageReport

__all__ = ["to_json"]


def to_json(report: TriageReport) -> str:
    """One object, `ddtree-doctor/triage/1`; a schema is beside this module."""
    return json.dumps(report.to_dict(), indent=2, ensure_ascii=False) + "\n"
