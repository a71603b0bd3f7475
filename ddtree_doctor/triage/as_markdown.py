"""The report as Markdown for an issue tracker. Nothing from a log can open a tag, a link or a code fence in it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from ddtree_doctor.triage.as_text import VERDICTS, ran
from ddtree_doctor.triage.report import IncidentReport, TriageReport

__all__ = ["CAP", "to_markdown"]

CAP = 60_000
"""Characters kept: an issue comment holds at most 65,536."""

MARKUP = re.compile(r"([\\`*_\[\]|#~@!])")
RUN = re.compile(r"`{1,400}")


def to_markdown(report: TriageReport) -> str:
    """The note, cut with a notice at CAP characters."""
    text = "\n".join(_lines(report)) + "\n"
    return text if len(text) <= CAP else text[:CAP] + "\n\n… cut: the whole report is in the JSON output\n"


def _lines(report: TriageReport) -> Iterator[str]:
    yield f"## doctor triage: {VERDICTS[report.verdict]}"
    yield ""
    yield f"Read: {', '.join(map(_code, report.files))} ({report.lines} lines)."
    for each in report.incidents:
        yield from _incident(each)
    if report.notes:
        yield from ("", *(f"- note: {_inline(note)}" for note in report.notes))


def _incident(each: IncidentReport) -> Iterator[str]:
    yield from ("", f"### {each.fault_class} (confidence: {each.confidence})", "", _inline(each.title), "")
    yield f"- **What ran:** {_inline(ran(each))}"
    yield f"- **Checked:** {', '.join(each.checked)}"
    yield f"- **Best guess:** {_inline(each.guess)}"
    if each.surfaced:
        yield f"- **Frame:** {_code(each.surfaced)}"
    yield from (f"- **{number.value}** is {_inline(number.meaning)}" for number in each.numbers)
    yield from (f"- **Also possible:** {c.fault_class} ({c.share:.0%})" for c in each.candidates[1:])
    yield from (f"- **Ruled out:** {out.fault_class}: {_inline(out.why)}" for out in each.ruled_out)
    yield from (f"- **Missing:** {_inline(what)}" for what in each.missing)
    yield f"- **A log cannot show:** {_inline(each.cannot_show)}"
    yield f"- **Next step:** {_inline(each.next_step)}"
    yield from _lists(each)


def _lists(each: IncidentReport) -> Iterator[str]:
    yield from ("", "Evidence, strongest first:", "")
    yield from (f"1. {_code(f'{place.file}:{place.line}')} {_code(place.text)}" for place in each.evidence)
    if each.echoes:
        yield from ("", "Echoes, which follow from it:", "")
        yield from (
            f"- {_code(f'{e.file}:{e.line}')} {_code(e.text)}: {_inline(e.why)} ({e.count}×)" for e in each.echoes
        )
    yield from ("", "| what to do | risk |", "|---|---|")
    yield from (f"| fix: {_inline(fix)} | |" for fix in each.fix)
    yield from (f"| workaround: {_inline(risk.do)} | {_inline(risk.risk)} |" for risk in each.workarounds)
    yield ""
    yield from (f"- fixed in {url}" for url in each.fixed_in)
    yield from (f"- reverted in {url}" for url in each.reverted_in)
    for found in each.launch:
        word = "refused" if found.refused else "warned of"
        yield f"- this launch would have been {word} by {found.code} {found.name}: {_inline(found.message)}"
    if each.rules:
        yield f"- rules that see this class before launch: {', '.join(each.rules)}"
    yield from (f"- see {url}" for url in each.references)


def _inline(text: str) -> str:
    """Text that opens nothing."""
    return MARKUP.sub(r"\\\1", html.escape(text, quote=False))


def _code(text: str) -> str:
    """A code span with a fence longer than any run of backticks inside."""
    fence = "`" * (max((len(run) for run in RUN.findall(text)), default=0) + 1)
    return f"{fence} {text} {fence}" if "`" in text else f"{fence}{text}{fence}"
