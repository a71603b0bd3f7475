"""Weigh what supports each fault class, and say how sure that makes us.

Weights are points on a log scale; the classes' shares, with some mass for a fault that no class describes, follow
from them. WEIGHTS and the thresholds below were set on the corpus in fixtures/logs: `python ci/triage_corpus.py` prints
how often each confidence was right, with each report's own signatures left out as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp

from ddtree_doctor.triage.catalogue import FaultClass, Signature
from ddtree_doctor.triage.match import matches
from ddtree_doctor.triage.order import Incident
from ddtree_doctor.triage.reading import Reading
from ddtree_doctor.triage.subject import Subject

__all__ = ["Candidate", "Verdict", "classify"]

WEIGHTS = {"decisive": 6.0, "strong": 4.0, "supporting": 2.5, "weak": 1.2}
READINGS = {"verified": "decisive", "assumed": "supporting"}
WEAKER = {"decisive": "strong", "strong": "supporting", "supporting": "weak", "weak": "weak"}
REST = 0.4
"""What a further piece of evidence for the same class counts, the best counting in full."""
NOTHING = 1.2
HIGH, MEDIUM = 0.85, 0.6
CLOSE = 1.5
"""Points by which the first of two assumed readings must lead to be called more than ambiguous."""
CANDIDATES_MAX = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One class with its share of the evidence (0 to 1) and what supports it, best first."""

    fault_class: str
    share: float
    points: float
    signatures: tuple[Signature, ...] = ()
    readings: tuple[Reading, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """At most three candidates, best first, and `high`, `medium`, `low`, `ambiguous` or `unknown`."""

    candidates: tuple[Candidate, ...]
    confidence: str

    @property
    def fault_class(self) -> str:
        """The best candidate's class, `unknown` where there is none."""
        return self.candidates[0].fault_class if self.candidates else "unknown"


def classify(subject: Subject, classes: Mapping[str, FaultClass]) -> Verdict:
    """Weigh every class. Pure: the same subject gives the same verdict."""
    weighed = [_weighed(each, subject) for each in classes.values()]
    supported = sorted((each for each in weighed if each.points > 0), key=lambda each: -each.points)
    mass = sum(exp(each.points) for each in supported) + exp(NOTHING)
    shared = tuple(_shared(each, mass) for each in supported[:CANDIDATES_MAX])
    return Verdict(candidates=shared, confidence=_confidence(shared, subject))


def _weighed(each: FaultClass, subject: Subject) -> Candidate:
    signatures = tuple(signature for signature in each.signatures if matches(signature, subject))
    fits = tuple(reading for reading in subject.readings if reading.fault_class == each.name and reading.fit != "no")
    points = [WEIGHTS[weight(signature, subject)] for signature in signatures]
    points += [WEIGHTS[_worth(reading, subject)] for reading in fits]
    points.sort(reverse=True)
    total = points[0] + REST * sum(points[1:]) if points else 0.0
    ranked = tuple(sorted(signatures, key=lambda signature: -WEIGHTS[weight(signature, subject)]))
    return Candidate(fault_class=each.name, share=0.0, points=total, signatures=ranked, readings=fits)


def weight(signature: Signature, subject: Subject) -> str:
    """A signature's weight; where an asynchronous error surfaced counts for less than where one happened."""
    by_frames = bool(signature.frames or signature.frames_all)
    return WEAKER[signature.weight] if by_frames and subject.asynchronous else signature.weight


def _worth(reading: Reading, subject: Subject) -> str:
    """A reading's weight; a row that fits after an earlier one has may be a coincidence."""
    worth = READINGS[reading.fit]
    return worth if reading is subject.best else WEAKER[worth]


def _shared(each: Candidate, mass: float) -> Candidate:
    return Candidate(
        fault_class=each.fault_class,
        share=exp(each.points) / mass,
        points=each.points,
        signatures=each.signatures,
        readings=each.readings,
    )


def _confidence(candidates: tuple[Candidate, ...], subject: Subject) -> str:
    if not candidates:
        return "unknown"
    first = candidates[0]
    if _ambiguous(candidates, subject):
        return "ambiguous"
    decisive = any(weight(signature, subject) == "decisive" for signature in first.signatures) or any(
        reading.fit == "verified" for reading in first.readings
    )
    if first.share >= HIGH and decisive and not _doubtful(subject.incident):
        return "high"
    return "medium" if first.share >= MEDIUM else "low"


def _doubtful(incident: Incident) -> bool:
    """Whether the first fault may not be in the log, or may not be the first: then nothing is sure."""
    return incident.only_echoes or not incident.ordered or incident.lead.kind == "timeout"


def _ambiguous(candidates: tuple[Candidate, ...], subject: Subject) -> bool:
    """Whether two rows of the number table fit alike and nothing else decides between their classes."""
    best = subject.best
    rivals = {each.fault_class for each in subject.readings if best and each.fit == best.fit} - {
        candidates[0].fault_class
    }
    if not rivals or best is None or best.fault_class != candidates[0].fault_class:
        return False
    rival = next((each for each in candidates[1:] if each.fault_class in rivals), None)
    return best.fit == "verified" or (rival is not None and candidates[0].points - rival.points <= CLOSE)
