"""Take off what wraps a line: container runtime, journal, pod, rank and the engine's own prefix.

A line may be wrapped several times (a pod's JSON around vLLM's process name around a logger's prefix), so layers are
peeled until none is left. What remains is the text as the process wrote it, its leading blanks included.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ddtree_doctor.triage.clocks import seconds
from ddtree_doctor.triage.model import Clock, Line, Place
from ddtree_doctor.triage.patterns import pattern

__all__ = ["Unwrapped", "unwrap"]

LAYERS_MAX = 6
LEVELS = {"WARN": "WARNING", "FATAL": "CRITICAL", "E": "ERROR", "W": "WARNING", "I": "INFO", "F": "CRITICAL"}
LEVEL = r"(?P<level>DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)"
DAY = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
ZONE = r"(?:Z|[+-]\d\d:?\d\d)"
UNIT = r"[\w.-]{1,64} (?P<stream>[\w./@-]{1,80}(?:\[\d{1,9}\])?): "
GLOG = r"(?P<level>[EWIF])(?P<engine>\d{4} \d\d:\d\d:\d\d(?:\.\d{1,9})?)"

# By the first character of the line. Groups are named after what they give; `engine` also marks the line as fresh.
BRACKET = (
    pattern(rf"\[(?P<engine>{DAY})(?P<writer>(?: [A-Z]{{1,8}}\d{{1,5}}){{0,6}})\] ?"),
    pattern(rf"\[{GLOG}[^\]\n]{{0,120}}\] ?"),
    pattern(r"\[(?P<stream>(?:rank|default)\d{1,5})\]: ?"),
    pattern(r"\[(?P<stream>pod/[\w.-]{1,253}(?:/[\w.-]{1,253})?)\] ?"),
    pattern(r"\[\d{1,5},(?P<stream>\d{1,5})\]<std(?:out|err)>: ?"),
    pattern(r"\[ {0,6}\d{1,9}\.\d{6}\] "),
)
PAREN = (pattern(r"\((?P<stream>[A-Za-z][\w.-]{0,60} (?:pid|rank|ip)=[^)\n]{1,80})\) ?"),)
DIGIT = (
    pattern(rf"(?P<wrapper>{DAY}{ZONE}) std(?:out|err) (?P<part>[FP])(?: |$)"),
    pattern(rf"(?P<wrapper>{DAY}{ZONE}) {UNIT}"),
    pattern(rf"(?P<wrapper>{DAY}{ZONE}) ?"),
    pattern(rf"(?P<engine>{DAY})(?: ?[-|:]? ?\[?{LEVEL}\]?(?=[ :|-]))? {{0,8}}[-|:]? ?"),
    pattern(r"(?P<stream>\d{1,4}): "),
)
LETTER = (
    pattern(rf"{LEVEL} (?P<engine>\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d{{1,9}})? (?:\[[^\]\n]{{1,120}}\] ?)?"),
    pattern(rf"{GLOG} {{1,3}}\d{{1,9}} [^\]\n]{{1,120}}\] "),
    pattern(rf"{LEVEL}(?::?(?: {{1,8}}|$))"),
    pattern(rf"[A-Za-z][\w.]{{0,60}} - {LEVEL} - "),
    pattern(rf"(?P<wrapper>[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{{1,9}})?) {UNIT}"),
    pattern(r"(?P<stream>[A-Za-z][\w.-]{0,80}) {1,20}\| ?"),
)
TEXT_KEYS = ("log", "message", "msg", "MESSAGE")
TRACE_KEYS = ("exc_info", "exception", "stack_trace", "traceback", "exc_text")
TIME_KEYS = ("time", "timestamp", "asctime", "@timestamp")
LEVEL_KEYS = ("level", "levelname", "severity")


@dataclass(slots=True)
class Unwrapped:
    """What the layers gave. `partial`: the runtime split one line in two and this is not its end."""

    text: str
    stream: str = ""
    writer: str = ""
    level: str = ""
    fresh: bool = False
    partial: bool = False
    engine: float | None = None
    wrapper: float | None = None

    def line(self, place: Place) -> Line:
        """The line at `place`."""
        clock = Clock(engine=self.engine, wrapper=self.wrapper)
        writer = f"{self.stream} {self.writer}".strip()
        return Line(place=place, clock=clock, stream=self.stream, writer=writer, level=self.level, fresh=self.fresh)


def unwrap(raw: str) -> Unwrapped:
    """Peel `raw`: one line without its newline and without terminal sequences."""
    peeled = Unwrapped(raw)
    for _ in range(LAYERS_MAX):
        if not _peel(peeled):
            break
    return peeled


def _peel(peeled: Unwrapped) -> bool:
    first = peeled.text[:1]
    if first == "{":
        return _peel_json(peeled)
    layers = BRACKET if first == "[" else PAREN if first == "(" else DIGIT if first.isdigit() else LETTER
    for layer in layers if first.strip() else ():
        if found := layer.match(peeled.text):
            _take(peeled, found.groupdict())
            peeled.text = peeled.text[found.end() :]
            return True
    return False


def _take(peeled: Unwrapped, groups: Mapping[str, str | None]) -> None:
    level, engine, wrapper, stream = (groups.get(name) for name in ("level", "engine", "wrapper", "stream"))
    peeled.level = LEVELS.get(level, level) if level else peeled.level
    peeled.fresh = peeled.fresh or bool(engine or level)
    peeled.engine = seconds(engine) if engine else peeled.engine
    peeled.wrapper = seconds(wrapper) if wrapper and peeled.wrapper is None else peeled.wrapper
    peeled.stream = f"{peeled.stream} {stream}".strip() if stream else peeled.stream
    peeled.writer = (groups.get("writer") or "").strip() or peeled.writer
    peeled.partial = peeled.partial or groups.get("part") == "P"


def _peel_json(peeled: Unwrapped) -> bool:
    """A log driver's or structured logger's object. Anything else that looks like one is left as it is."""
    try:
        record = json.loads(peeled.text)
    except (ValueError, RecursionError):
        return False
    text = _first(record, TEXT_KEYS) if isinstance(record, dict) else None
    if text is None:
        return False
    driver = "log" in record and "stream" in record
    peeled.partial = driver and not text.endswith("\n")
    trace = _first(record, TRACE_KEYS)
    peeled.text = text.rstrip("\n") + (f"\n{trace}" if trace else "")
    level, stamp = _first(record, LEVEL_KEYS), _first(record, TIME_KEYS)
    _take(peeled, {"wrapper": stamp, "level": level.upper() if level else None})
    peeled.fresh = not driver
    return True


def _first(record: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((value for key in keys if isinstance(value := record.get(key), str)), None)
