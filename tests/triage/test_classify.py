"""Evidence adds up, an ambiguity is called one, and nothing is sure that cannot be."""

from dataclasses import replace

import pytest

from ddtree_doctor.triage.catalogue import FaultClass, Signature, catalogue
from ddtree_doctor.triage.classify import classify, weight
from tests.triage.logs import ARGS, IMA, SIZES, subject, traceback

FOUNDING = subject(ARGS, *traceback(SIZES))
ODD = subject(*traceback("ZeroDivisionError: division by zero", "managers/scheduler.py:run_batch"))
DEVICE = subject(*traceback(IMA))


def signature(**fields):
    return Signature(
        **{"id": "x", "weight": "strong", "means": "x", "sources": (), "example": (), "near_miss": (), **fields}
    )


def fault_class(name, *signatures):
    return FaultClass(
        name=name, title="x", fix=(), next_step="", cannot_show="", workarounds=(), rules=(), signatures=signatures
    )


def verdict(about, **classes):
    return classify(about, {name: fault_class(name, *signatures) for name, signatures in classes.items()})


def test_nothing_known_is_unknown():
    found = classify(ODD, catalogue())

    assert (found.fault_class, found.confidence, found.candidates) == ("unknown", "unknown", ())


@pytest.mark.parametrize(
    ("of", "confidence"), [("decisive", "high"), ("strong", "medium"), ("supporting", "medium"), ("weak", "low")]
)
def test_one_signature_of_each_weight(of, confidence):
    assert verdict(ODD, one=[signature(weight=of)]).confidence == confidence


def test_more_evidence_is_more_share():
    one = verdict(ODD, one=[signature()], other=[signature()])
    two = verdict(ODD, one=[signature(), signature()], other=[signature()])

    assert one.candidates[0].share < two.candidates[0].share
    assert two.fault_class == "one"


def test_shares_leave_room_for_what_no_class_describes():
    assert sum(each.share for each in verdict(ODD, one=[signature()], other=[signature()]).candidates) < 1


def test_at_most_three_candidates():
    assert len(verdict(ODD, **{f"c{number}": [signature()] for number in range(9)}).candidates) == 3


def test_decisive_evidence_for_two_classes_is_not_high():
    assert verdict(ODD, one=[signature(weight="decisive")], other=[signature(weight="decisive")]).confidence != "high"


def test_where_an_asynchronous_error_surfaced_counts_for_less():
    frames = signature(frames=("replay_prepare",), weight="decisive")

    assert weight(frames, DEVICE) == "strong"
    assert weight(frames, FOUNDING) == "decisive"
    assert weight(signature(text=("illegal",), weight="decisive"), DEVICE) == "decisive"


def test_an_asynchronous_frame_alone_is_never_high():
    assert verdict(DEVICE, one=[signature(frames=("replay_prepare",), weight="decisive")]).confidence == "medium"


def test_two_verified_readings_are_ambiguous_and_the_earlier_row_is_first():
    both = replace(FOUNDING, known=replace(FOUNDING.known, graph_max=8, running=(33,)))
    both = replace(both, readings=subject_readings(both))

    found = classify(both, catalogue())

    assert (found.fault_class, found.confidence) == ("batch-exceeds-captured-range", "ambiguous")
    assert found.candidates[1].fault_class == "shape-width-mismatch"


def subject_readings(about):
    from ddtree_doctor.triage.mismatch import mismatches
    from ddtree_doctor.triage.rows import readings

    return readings(mismatches(about.text), about.known)


@pytest.mark.parametrize("change", [dict(only_echoes=True), dict(ordered=False)])
def test_where_the_first_fault_may_be_elsewhere_nothing_is_high(change):
    doubtful = replace(FOUNDING, incident=replace(FOUNDING.incident, **change))

    assert classify(FOUNDING, catalogue()).confidence == "high"
    assert classify(doubtful, catalogue()).confidence == "medium"


def test_a_time_out_is_never_high():
    timed_out = subject("ERROR [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(x)")

    found = classify(timed_out, catalogue())

    assert (found.fault_class, found.confidence) == ("tp-divergence-hang", "medium")


def test_the_same_subject_gives_the_same_verdict():
    assert classify(FOUNDING, catalogue()) == classify(FOUNDING, catalogue())
