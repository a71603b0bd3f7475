"""Put a verdict into words: the incident note, its evidence, what speaks against, what to do next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ddtree_doctor.triage.catalogue import FaultClass, Signature
from ddtree_doctor.triage.classify import Candidate, Verdict
from ddtree_doctor.triage.model import Fault, Number, Place
from ddtree_doctor.triage.order import Echo
from ddtree_doctor.triage.report import CandidateReport, EchoReport, IncidentReport, Risk, RuledOut
from ddtree_doctor.triage.subject import CAPTURE_FAILED, Subject

__all__ = ["tell"]

ROW_RULES = {
    "width": "DD201",
    "steps": "DD211",
    "view": "DD112",
    "batch": "DD204",
    "context": "DD210",
    "vocabulary": "DD115",
    "hidden": "DD114",
    "positions": "DD113",
    "padding": "DD301",
    "chain": "DD133",
}
CHECKED = (
    "numbers",
    "server_args line",
    "captured graphs",
    "running batch",
    "tracebacks",
    "device errors",
    "order across ranks",
)
SHOWN = (
    "engine",
    "speculative_algorithm",
    "speculative_num_draft_tokens",
    "speculative_num_steps",
    "speculative_eagle_topk",
    "speculative_ddtree_budget",
    "speculative_dflash_block_size",
    "num_speculative_tokens",
    "cuda_graph_max_bs",
    "captured_width",
    "capture_bs",
    "context_len",
    "context_length",
    "tp_size",
    "attention_backend",
    "max_running_requests",
)
UNKNOWN_TITLE = "A fault that no known class describes."
ONLY_ECHOES = "The log holds only what follows from a fault; the fault itself is in another log."
REFERENCES_MAX = 8
ECHOES_MAX = 8
BLOCKING = (
    "run once with CUDA_LAUNCH_BLOCKING=1 (and without graphs, then with): the frame is then where it happened; "
    "look for the Xid line in dmesg"
)
GIVE_ALL = "give the logs of every rank and of the processes that the parent started: doctor triage rank*.log"


def tell(subject: Subject, verdict: Verdict, classes: Mapping[str, FaultClass]) -> IncidentReport:
    """The incident note. Text is as the log has it: redact before it goes anywhere."""
    first = verdict.candidates[0] if verdict.candidates else None
    known = classes[first.fault_class] if first else None
    signatures = first.signatures if first else ()
    return IncidentReport(
        fault_class=verdict.fault_class,
        confidence=verdict.confidence,
        title=known.title if known else ONLY_ECHOES if subject.incident.only_echoes else UNKNOWN_TITLE,
        guess=_guess(first),
        algorithm=subject.known.algorithm or None,
        engine=subject.engine or None,
        phase=subject.phase or None,
        surfaced=_surfaced(subject),
        asynchronous=subject.asynchronous,
        candidates=tuple(_candidate(each) for each in verdict.candidates),
        checked=CHECKED,
        numbers=_numbers(verdict),
        evidence=tuple(_evidence(subject, signatures)),
        echoes=_echoes(subject.incident.echoes),
        ruled_out=tuple(_ruled_out(subject, verdict)),
        cannot_show=known.cannot_show if known else "the cause, unless a line of it is printed somewhere",
        missing=tuple(dict.fromkeys(_missing(subject, verdict))),
        next_step=_next_step(subject, verdict, known),
        fix=tuple(dict.fromkeys([*(fix for each in signatures for fix in each.fix), *(known.fix if known else ())])),
        fixed_in=tuple(dict.fromkeys(url for each in signatures for url in each.fixed_in)),
        reverted_in=tuple(dict.fromkeys(url for each in signatures for url in each.reverted_in)),
        workarounds=tuple(
            Risk(do=each.do, risk=each.risk)
            for each in dict.fromkeys(
                [*(w for s in signatures for w in s.workarounds), *(known.workarounds if known else ())]
            )
        ),
        rules=_rules(first, known),
        references=tuple(dict.fromkeys(url for each in signatures for url in each.sources))[:REFERENCES_MAX],
    )


def _guess(first: Candidate | None) -> str:
    if first is None:
        return "no guess: nothing in the log supports any class"
    best = [reading.why for reading in first.readings] + [signature.means for signature in first.signatures]
    return "; ".join(best[:2])


def _surfaced(subject: Subject) -> str:
    frames = subject.incident.lead.chain()[0].frames or subject.frames
    if not frames:
        return ""
    last = frames[-1]
    where = f"{last.file}:{last.line} in {last.function}"
    if subject.asynchronous:
        return f"{where}: where an asynchronous device error surfaced, not where it happened; not to be blamed"
    return where


def _candidate(each: Candidate) -> CandidateReport:
    why = [f"sizes: {reading.why} ({reading.fit})" for reading in each.readings]
    why += [f"{signature.means} [{signature.id}]" for signature in each.signatures]
    return CandidateReport(fault_class=each.fault_class, share=round(each.share, 3), why=tuple(why))


def _numbers(verdict: Verdict) -> tuple[Number, ...]:
    found = [number for each in verdict.candidates for reading in each.readings for number in reading.numbers]
    return tuple(dict.fromkeys(found))


def _evidence(subject: Subject, signatures: Sequence[Signature]) -> Iterator[Place]:
    """The lines of the fault, the warnings that a signature rests on, the lines that gave the settings."""
    lead = subject.incident.lead
    for fault in (lead, *(part for part in subject.incident.parts if part is not lead)):
        for each in fault.chain():
            yield Place(
                file=each.place.file, line=each.place.line, text=each.text or "a traceback whose end is missing"
            )
    near = [re.compile(words) for signature in signatures for words in signature.near]
    for place in dict.fromkeys(place for fault in subject.incident.parts for place in fault.context):
        if any(words.search(place.text) for words in near):
            yield place
    yield from _configuration(subject)


def _configuration(subject: Subject) -> Iterator[Place]:
    """One line for each line of the log that gave settings that matter."""
    setup = subject.run.setup
    memory = [name for name in setup.places if name.startswith("memory_gb.") and "oom" in subject.device]
    by_place: dict[tuple[str, int], list[str]] = {}
    for name in (*SHOWN, *memory):
        if name in setup.places:
            place = setup.places[name]
            by_place.setdefault((place.file, place.line), []).append(f"{name}={setup.values[name]}")
    for (file, line), settings in by_place.items():
        yield Place(file=file, line=line, text=", ".join(settings))


def _echoes(echoes: Sequence[Echo]) -> tuple[EchoReport, ...]:
    """The echoes, one of a kind with its count."""
    kinds: dict[tuple[str, str], list[Fault]] = {}
    for echo in echoes:
        kinds.setdefault((echo.why, echo.fault.exception), []).append(echo.fault)
    return tuple(
        EchoReport(
            file=faults[0].place.file, line=faults[0].place.line, text=faults[0].text, why=why, count=len(faults)
        )
        for (why, _), faults in kinds.items()
    )[:ECHOES_MAX]


def _ruled_out(subject: Subject, verdict: Verdict) -> Iterator[RuledOut]:
    named = {each.fault_class for each in verdict.candidates}
    for reading in subject.readings:
        if reading.fit == "no" and reading.fault_class not in named:
            named.add(reading.fault_class)
            yield RuledOut(fault_class=reading.fault_class, why=reading.why)
    if CAPTURE_FAILED in subject.text and "memory-oom" not in named and "oom" not in subject.device:
        yield RuledOut(
            fault_class="memory-oom",
            why="nothing says that memory ran out; the advice to lower --mem-fraction-static is always printed",
        )


def _missing(subject: Subject, verdict: Verdict) -> Iterator[str]:
    for each in verdict.candidates:
        for reading in each.readings:
            yield from (f"{what}" for what in reading.missing)
    if subject.run.setup.engine == "":
        yield "the start-up lines: without the server_args line neither algorithm nor sizes are known"
    if not subject.incident.ordered:
        yield "times: several ranks faulted and no clock tells which came first"
    if not subject.incident.lead.complete:
        yield "the end of the traceback: the log breaks off inside it"


def _next_step(subject: Subject, verdict: Verdict, known: FaultClass | None) -> str:
    if verdict.confidence == "ambiguous":
        return f"two readings of the numbers fit; {_deciding(verdict)}"
    if subject.incident.only_echoes:
        return GIVE_ALL
    if subject.asynchronous and verdict.confidence != "high":
        return f"{BLOCKING}; then {known.next_step}" if known else f"{BLOCKING}; {GIVE_ALL}"
    return known.next_step if known else GIVE_ALL


def _deciding(verdict: Verdict) -> str:
    rows = {reading.row for each in verdict.candidates[:2] for reading in each.readings}
    if "batch" in rows:
        return (
            "send one request at a time: a batch above the captured range needs many running requests, "
            "a wrong width fails at the first (or: doctor check --tier shape -- COMMAND)"
        )
    return "doctor check --tier shape -- COMMAND shows every width and buffer, which decides between them"


def _rules(first: Candidate | None, known: FaultClass | None) -> tuple[str, ...]:
    own = [ROW_RULES[reading.row] for reading in (first.readings if first else ()) if reading.row in ROW_RULES]
    return tuple(dict.fromkeys([*own, *(known.rules if known else ())]))
