"""What a reduction is asked and what it found, as plain data that goes to a probe process and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ddtree_doctor.engine.replay.job import ReplayJob
from ddtree_doctor.replay.record import Behaviour

__all__ = ["CODES", "Found", "ReductionJob"]

CODES = ("DD308", "DD307", "DD302", "DD301", "DD306")
"""The rules about scenarios on the CPU, in the order in which one of several that fail is chosen: an error ends a pass,
a stray access may be why logits differ, and a forward that is wrong by itself is wrong in its graph too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReductionJob:
    """One reduction in one start: what to replay, the launch's facts as a bundle, the rule, "" for any.

    `listed` asks for the scenarios alone, none of them run.
    """

    replay: ReplayJob
    bundle: str
    code: str = ""
    listed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one reduction came to.

    `fired` holds each rule that the whole of the scenarios broke and what it said; `code` the one that was reduced, ""
    where none fired. `scenarios` is the smallest case, as JSON, and `before` how many scenarios it was found in; `seen`
    its behaviour, `eager` what rules say where the same runs without any graph. `tests` counts the cases that were run.
    """

    before: int
    tests: int
    fired: Mapping[str, str] = field(default_factory=dict)
    code: str = ""
    scenarios: tuple[Any, ...] = ()
    seen: Behaviour | None = None
    eager: Mapping[str, str] = field(default_factory=dict)
