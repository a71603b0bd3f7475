"""What is read from a log: lines, frames, faults, and the numbers of the deployment. Frozen, plain data."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Clock", "Fault", "Frame", "Line", "Number", "Place"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A line of an input: `file` as the user gave it, `line` 1-based, `text` without wrapping, not yet redacted."""

    file: str
    line: int
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """When a line was written, in seconds since the year began, by each clock that speaks on it (None: silent).

    `engine` is the time the engine prints itself, `wrapper` that of the container runtime or journal. The two may
    differ by a time zone, so only times of one clock are ever compared.
    """

    engine: float | None = None
    wrapper: float | None = None

    def before(self, other: Clock) -> bool | None:
        """Whether this is earlier than `other`; None where no one clock tells, or they agree to the second."""
        for mine, theirs in ((self.engine, other.engine), (self.wrapper, other.wrapper)):
            if mine is not None and theirs is not None and mine != theirs:
                return mine < theirs
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line as its writer meant it, all wrapping taken off.

    `stream` is what labels every line of one source (a pod, `rank3`, `EngineCore_0 pid=7`), `writer` that and the
    name in the engine's prefix (`pod/a TP3`). `fresh` is true where the line carries a logger's prefix. `level` is
    upper case or "".
    """

    place: Place
    clock: Clock = field(default_factory=Clock)
    stream: str = ""
    writer: str = ""
    level: str = ""
    fresh: bool = False

    @property
    def text(self) -> str:
        """What was written."""
        return self.place.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One frame of a traceback; `source` is the line of code under it, "" where it was not printed.

    As text it is `file:function: source`, which is what signatures are written against.
    """

    file: str
    line: int
    function: str
    source: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.function}: {self.source}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number in a message and what it is: `value` 33, `meaning` `budget + 1: what target verify forwards`."""

    value: int
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that went wrong, as one process saw it.

    `kind` is `exception`, `device` (reported by CUDA, HIP or the driver), `signal`, `timeout`, `notice` (a line that is
    a fault by itself), `hazard` (a warning that is the fault only where nothing else is) or `complaint` (a line that
    may be one: never an incident by itself). `exception` is the type's last name part, "" where there is none.
    `message` holds its lines, `head` what was printed before its traceback on the same line.
    `frames` are outermost first. `causes` are the exceptions it was raised from, first cause first. `context` holds
    telling lines shortly before it. `complete` is false where the log ends inside the traceback. `phase` is `startup`,
    `capture`, `runtime` or "", `running` the last batch that its
    writer reported, else those of all writers.
    """

    kind: str
    place: Place
    exception: str = ""
    message: tuple[str, ...] = ()
    frames: tuple[Frame, ...] = ()
    causes: tuple[Fault, ...] = ()
    context: tuple[Place, ...] = ()
    clock: Clock = field(default_factory=Clock)
    writer: str = ""
    level: str = ""
    head: str = ""
    run: int = 0
    phase: str = ""
    running: tuple[int, ...] = ()
    complete: bool = True

    @property
    def text(self) -> str:
        """Type and message, one string with the lines in order."""
        head = f"{self.exception}: " if self.exception else ""
        return head + "\n".join(self.message)

    def chain(self) -> tuple[Fault, ...]:
        """First cause first, this one last."""
        return (*self.causes, self)
