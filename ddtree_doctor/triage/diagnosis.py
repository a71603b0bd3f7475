"""`triage`: from log files to the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ddtree_doctor.triage.catalogue import FaultClass, catalogue, notices
from ddtree_doctor.triage.classify import classify
from ddtree_doctor.triage.narrative import tell
from ddtree_doctor.triage.order import incident
from ddtree_doctor.triage.precheck import precheck
from ddtree_doctor.triage.reader import read, read_blocks
from ddtree_doctor.triage.report import Excerpt, IncidentReport, TriageReport
from ddtree_doctor.triage.run import Reading, Run
from ddtree_doctor.triage.subject import subject_of
from ddtree_doctor.triage.veil import Veil

__all__ = ["conclude", "triage", "triage_blocks"]

INCIDENTS_MAX = 20


def triage(paths: Sequence[str], *, classes: Mapping[str, FaultClass] | None = None) -> TriageReport:
    """Read the logs at `paths` (`-`: standard input) and say what broke.

    `classes` replaces the shipped signatures (cross-validation leaves some out). Raises UsageError for a path that is
    no log, DoctorError where reading fails half-way.
    """
    classes = catalogue() if classes is None else classes
    return conclude(read(list(dict.fromkeys(paths)), notices(classes)), classes)


def triage_blocks(
    inputs: Mapping[str, Iterable[bytes]], *, classes: Mapping[str, FaultClass] | None = None
) -> TriageReport:
    """The same on bytes at hand, by input name. Raises nothing on any bytes."""
    classes = catalogue() if classes is None else classes
    reading = Reading()
    for name, data in inputs.items():
        read_blocks(name, data, reading, notices(classes))
    return conclude(reading, classes)


def conclude(reading: Reading, classes: Mapping[str, FaultClass]) -> TriageReport:
    """The report on what was read, fit to leave the machine."""
    told = tuple(_merged(each for run in reading.runs for each in _told(run, classes)))[:INCIDENTS_MAX]
    setup = next((run.setup for run in reading.runs if run.setup.values), None)
    report = TriageReport(
        verdict="fault" if told else "clean" if reading.engine_lines else "none",
        files=tuple(reading.files),
        lines=reading.lines,
        bytes=reading.bytes,
        incidents=told,
        notes=(*reading.notes, *_notes(reading)),
        configuration=dict(setup.values) if setup else {},
        excerpts=tuple(Excerpt(file=place.file, line=place.line, lines=lines) for place, lines in reading.excerpts),
    )
    return Veil(_texts(report)).over(report)


def _told(run: Run, classes: Mapping[str, FaultClass]) -> Iterator[IncidentReport]:
    found = incident(run)
    if found is None:
        return
    subject = subject_of(found, run)
    verdict = classify(subject, classes)
    if found.lead.kind == "hazard" and not verdict.candidates:
        return  # a warning whose own conditions do not hold: the server went on
    before = precheck(run.setup)
    yield replace(tell(subject, verdict, classes), launch=before.findings, launch_unknown=before.unknown)


def _merged(incidents: Iterable[IncidentReport]) -> Iterator[IncidentReport]:
    """A crash loop tells the same many times: once, with the count."""
    merged: dict[tuple[str, str], IncidentReport] = {}
    for each in incidents:
        key = (each.fault_class, each.evidence[0].text if each.evidence else "")
        merged[key] = replace(merged[key], occurrences=merged[key].occurrences + 1) if key in merged else each
    yield from merged.values()


def _notes(reading: Reading) -> Iterator[str]:
    if reading.dropped:
        yield f"{reading.dropped} further fault lines of kinds already seen were counted, not kept"


def _texts(report: TriageReport) -> Iterator[str]:
    """Where user names can be learnt from."""
    yield from report.files
    yield from (str(value) for value in report.configuration.values())
    for each in report.incidents:
        yield each.surfaced
        yield from (place.text for place in each.evidence)
    for excerpt in report.excerpts:
        yield from excerpt.lines
