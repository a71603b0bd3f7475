"""What one reading of the inputs brings out: runs of the deployment with their setups and faults. Bounded."""

from __future__ import annotations

from dataclasses import dataclass, field

from ddtree_doctor.triage.model import Fault, Place
from ddtree_doctor.triage.patterns import pattern
from ddtree_doctor.triage.setup import Setup

__all__ = ["Reading", "Run"]

RUNS_MAX = 50
FAULTS_MAX = 300
COMPLAINTS_MAX = 100
REPEATS_MAX = 16
EXCERPTS_MAX = 12
KIND_CHARS = 200
DIGITS = pattern(r"\d{1,20}")


@dataclass(slots=True)
class Run:
    """One run of the deployment: what it told of itself, what went wrong, and each file's last line of progress."""

    setup: Setup = field(default_factory=Setup)
    faults: list[Fault] = field(default_factory=list)
    progress: dict[str, int] = field(default_factory=dict)

    def stalled(self, place: Place) -> bool:
        """Whether the log shows no start-up completed, request served or orderly end after `place`."""
        return self.progress.get(place.file, 0) <= place.line


@dataclass(slots=True)
class Reading:
    """All inputs. `engine_lines` counts lines that speak of an engine, `dropped` faults of kinds seen often enough."""

    files: list[str] = field(default_factory=list)
    lines: int = 0
    bytes: int = 0
    engine_lines: int = 0
    runs: list[Run] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    excerpts: list[tuple[Place, tuple[str, ...]]] = field(default_factory=list)
    dropped: int = 0
    _kept: int = 0
    _kinds: dict[str, int] = field(default_factory=dict)

    def run(self, index: int) -> Run:
        """Run `index`, made where it is not there yet; the last one where there are too many."""
        index = min(index, RUNS_MAX - 1)
        while len(self.runs) <= index:
            self.runs.append(Run())
        return self.runs[index]

    def record(self, fault: Fault) -> None:
        """Keep `fault`, unless enough of its kind or enough of all are kept."""
        first = "".join(fault.message[:1])[:KIND_CHARS]
        kind = DIGITS.sub("#", f"{fault.kind} {fault.exception} {first} {fault.writer} {fault.run}")
        seen = self._kinds.get(kind, 0)
        limit = COMPLAINTS_MAX if fault.kind == "complaint" else FAULTS_MAX
        if seen >= REPEATS_MAX or self._kept >= limit:
            self.dropped += 1
            return
        self._kinds[kind] = seen + 1
        self._kept += 1
        self.run(fault.run).faults.append(fault)

    def excerpt(self, place: Place, lines: tuple[str, ...]) -> None:
        """Keep the lines up to `place` for the bundle."""
        if len(self.excerpts) < EXCERPTS_MAX:
            self.excerpts.append((place, lines))
