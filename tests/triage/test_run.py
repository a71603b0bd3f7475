"""What a hostile log can make a reading keep is bounded."""

from ddtree_doctor.triage.model import Fault, Place
from ddtree_doctor.triage.run import COMPLAINTS_MAX, EXCERPTS_MAX, FAULTS_MAX, REPEATS_MAX, RUNS_MAX, Reading, Run


def fault(text, kind="exception", line=1):
    return Fault(kind=kind, place=Place(file="f", line=line), message=(text,))


def test_repeats_of_one_kind_are_counted_not_kept():
    reading = Reading()
    for number in range(1000):
        reading.record(fault(f"request {number} failed"))

    assert len(reading.run(0).faults) == REPEATS_MAX
    assert reading.dropped == 1000 - REPEATS_MAX


def test_faults_of_many_kinds_are_bounded():
    reading = Reading()
    for number in range(2 * FAULTS_MAX):
        reading.record(fault("x" * (number % 150) + chr(65 + number // 150) + "y"))

    assert len(reading.run(0).faults) <= FAULTS_MAX


def test_complaints_leave_room_for_faults():
    reading = Reading()
    for number in range(FAULTS_MAX):
        reading.record(fault("c" * number, kind="complaint"))
    reading.record(fault("RuntimeError: the fault"))

    kinds = [each.kind for each in reading.run(0).faults]
    assert kinds.count("complaint") <= COMPLAINTS_MAX
    assert kinds[-1] == "exception"


def test_runs_and_excerpts_are_bounded():
    reading = Reading()
    reading.run(10**6)
    for number in range(100):
        reading.excerpt(Place(file="f", line=number), ())

    assert len(reading.runs) == RUNS_MAX
    assert len(reading.excerpts) == EXCERPTS_MAX


def test_a_run_stalls_where_nothing_was_served_after_a_line():
    run = Run(progress={"f": 10})

    assert run.stalled(Place(file="f", line=10))
    assert not run.stalled(Place(file="f", line=9))
    assert run.stalled(Place(file="g", line=9))
