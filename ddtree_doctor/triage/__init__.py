"""Triage: from a crash log to cause, evidence and fix."""
