"""What triage says: frozen, already redacted and sanitised, ready for any sink."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ddtree_doctor.triage.model import Number, Place

__all__ = [
    "SCHEMA",
    "CandidateReport",
    "EchoReport",
    "Excerpt",
    "IncidentReport",
    "LaunchFinding",
    "RuledOut",
    "TriageReport",
]

SCHEMA = "ddtree-doctor/triage/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateReport:
    """One class that the evidence supports; `share` is its part of it, 0 to 1; `why` what supports it."""

    fault_class: str
    share: float
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EchoReport:
    """A line that follows from the first fault; `count` of its kind."""

    file: str
    line: int
    text: str
    why: str
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledOut:
    """A class that was considered and what stands against it."""

    fault_class: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchFinding:
    """What a static rule says of the configuration in the log; `refused`: it would have blocked the launch."""

    code: str
    name: str
    message: str
    refused: bool
    fix: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """A workaround and what it can cost."""

    do: str
    risk: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentReport:
    """One thing that broke, in the order of an incident note.

    `checked` says what was looked at, `evidence` where the signals stand (the strongest first), `surfaced` the
    innermost frame and whether it can be trusted, `missing` what would make it surer, `rules` which rules see this
    class before launch, `launch` what the static rules say of this launch, `launch_unknown` those that could not say.
    """

    fault_class: str
    confidence: str
    title: str
    guess: str
    algorithm: str | None
    engine: str | None
    phase: str | None
    surfaced: str
    asynchronous: bool
    candidates: tuple[CandidateReport, ...]
    checked: tuple[str, ...]
    numbers: tuple[Number, ...]
    evidence: tuple[Place, ...]
    echoes: tuple[EchoReport, ...]
    ruled_out: tuple[RuledOut, ...]
    cannot_show: str
    missing: tuple[str, ...]
    next_step: str
    fix: tuple[str, ...]
    fixed_in: tuple[str, ...]
    reverted_in: tuple[str, ...]
    workarounds: tuple[Risk, ...]
    rules: tuple[str, ...]
    launch: tuple[LaunchFinding, ...] = ()
    launch_unknown: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    occurrences: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """Lines around a fault, for the bundle."""

    file: str
    line: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TriageReport:
    """The whole report. `verdict` is `fault`, `clean` or `none` (no line of an engine: nothing can be said)."""

    verdict: str
    files: tuple[str, ...]
    lines: int
    bytes: int
    incidents: tuple[IncidentReport, ...]
    notes: tuple[str, ...] = ()
    configuration: Mapping[str, object] = field(default_factory=dict)
    excerpts: tuple[Excerpt, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 no fault found, 1 fault found, 3 no verdict."""
        return {"clean": 0, "fault": 1, "none": 3}[self.verdict]

    def to_dict(self) -> dict[str, Any]:
        """The report object, `ddtree-doctor/triage/1`."""
        from ddtree_doctor import __version__

        found = asdict(self)
        del found["excerpts"]
        return {
            "schema": SCHEMA,
            "tool": {"name": "ddtree-doctor", "version": __version__},
            "exit_code": self.exit_code,
            **found,
        }
