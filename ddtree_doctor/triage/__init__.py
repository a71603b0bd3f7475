"""Triage: from a crash log to cause, evidence and fix."""

from ddtree_doctor.triage.as_json import to_json
from ddtree_doctor.triage.as_markdown import to_markdown
from ddtree_doctor.triage.as_text import to_text
from ddtree_doctor.triage.diagnosis import triage, triage_blocks
from ddtree_doctor.triage.report import TriageReport

__all__ = ["TriageReport", "to_json", "to_markdown", "to_text", "triage", "triage_blocks"]
