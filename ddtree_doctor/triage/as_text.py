"""The report as plain lines for a person: an incident note."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.triage.report import IncidentReport, TriageReport

__all__ = ["HEADING", "VERDICTS", "ran", "to_text"]

HEADING = "■ "
"""What a heading starts with; a terminal may make such a line bold."""

EVIDENCE_SHOWN = 8
VERDICTS = {
    "fault": "fault found",
    "clean": "no fault found",
    "none": "no verdict: not one line of SGLang or vLLM is in it",
}


def to_text(report: TriageReport) -> tuple[str, ...]:
    """Lines without newlines, markup or colour; each safe for a terminal and for a CI log."""
    return tuple(_lines(report))


def ran(each: IncidentReport) -> str:
    """Engine, algorithm and phase, as far as they are known."""
    return " · ".join(filter(None, (each.engine, each.algorithm, each.phase))) or "not told"


def _lines(report: TriageReport) -> Iterator[str]:
    size = f"{report.lines} lines, {report.bytes / 1e6:.1f} MB"
    yield f"{HEADING}{VERDICTS[report.verdict]} in {', '.join(report.files) or 'nothing'} ({size})"
    for each in report.incidents:
        yield ""
        yield from _incident(each)
    yield from (f"note: {note}" for note in report.notes)
    if report.verdict == "clean":
        yield "What a log cannot show: wrong tokens, lost speed and batch sizes that silently run without graphs."


def _incident(each: IncidentReport) -> Iterator[str]:
    times = f" · {each.occurrences} times" if each.occurrences > 1 else ""
    yield f"{HEADING}{each.fault_class} · confidence {each.confidence}{times}"
    yield f"  {each.title}"
    yield f"  what ran         {ran(each)}"
    yield f"  best guess       {each.guess}"
    for place in each.evidence[:EVIDENCE_SHOWN]:
        yield f"  evidence         {place.file}:{place.line}  {place.text}"
    if each.surfaced:
        yield f"  frame            {each.surfaced}"
    for number in each.numbers:
        yield f"  number           {number.value}: {number.meaning}"
    yield from (f"  also possible    {c.fault_class} ({c.share:.0%})" for c in each.candidates[1:])
    yield from (f"  ruled out        {out.fault_class}: {out.why}" for out in each.ruled_out)
    for echo in each.echoes:
        times = f", {echo.count} times" if echo.count > 1 else ""
        yield f"  echo             {echo.file}:{echo.line}  {echo.text} ({echo.why}{times})"
    yield from (f"  missing          {what}" for what in each.missing)
    yield f"  not in a log     {each.cannot_show}"
    yield f"  next step        {each.next_step}"
    yield from _remedies(each)


def _remedies(each: IncidentReport) -> Iterator[str]:
    yield from (f"  fix              {fix}" for fix in each.fix)
    yield from (f"  fixed in         {url}" for url in each.fixed_in)
    yield from (f"  reverted in      {url}" for url in each.reverted_in)
    yield from (f"  workaround       {risk.do}: {risk.risk}" for risk in each.workarounds)
    for found in each.launch:
        told = "this launch would have been refused by" if found.refused else "this launch would have been warned of by"
        yield f"  before launch    {told} {found.code} {found.name}: {found.message}"
    if each.launch_unknown:
        yield f"  not judged       the log does not tell enough for {', '.join(each.launch_unknown)}"
    if each.rules:
        yield f"  rules            {', '.join(each.rules)} (doctor explain CODE)"
    yield from (f"  see              {url}" for url in each.references)
