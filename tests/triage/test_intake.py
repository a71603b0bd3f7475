"""Lines go where they belong: runs, phases, running batches, warnings before a fault."""

from tests.triage.logs import ARGS, SIZES, reading_of, traceback

READY = "[2026-05-11 12:00:20 TP0] The server is fired up and ready to roll!"


def only_fault(*lines):
    [found] = [fault for run in reading_of(*lines).runs for fault in run.faults if fault.kind == "exception"]
    return found


def batch(running, writer="TP0"):
    return f"[2026-05-11 12:00:21 {writer}] Decode batch, #running-req: {running}, #token: 1"


def test_a_second_configuration_begins_a_second_run():
    reading = reading_of(ARGS, READY, *traceback(SIZES), ARGS, READY, *traceback(SIZES))

    assert [len(run.faults) for run in reading.runs] == [1, 1]


def test_nodes_that_print_their_configuration_once_each_are_one_run():
    reading = reading_of(f"[pod/a/x] {ARGS}", f"[pod/b/x] {ARGS}", f"[pod/a/x] {READY}")

    assert len(reading.runs) == 1


def test_the_phase_is_that_of_the_moment():
    assert only_fault(ARGS, *traceback(SIZES), READY).phase == "startup"
    assert only_fault(ARGS, READY, *traceback(SIZES)).phase == "runtime"
    begin = "[2026-05-11 12:00:09 TP0] Capture target verify CUDA graph begin. num_tokens_per_req=8"
    assert only_fault(ARGS, begin, *traceback(SIZES)).phase == "capture"


def test_the_running_batch_is_the_writers_own_where_it_reports_one():
    assert only_fault(batch(33, "TP3"), batch(2, "TP5"), *traceback(SIZES)).running == (33,)


def test_else_it_is_every_writers_last():
    assert only_fault(batch(7), batch(33), batch(2, "DP1 TP0"), *traceback(SIZES)).running == (2, 33)


def test_warnings_shortly_before_come_along():
    warning = "/x/a.py:1: UserWarning: an output had shape [8]"

    assert [place.text for place in only_fault(warning, *traceback(SIZES)).context] == [warning]
    assert only_fault(warning, *["[2026-05-11 12:00:21] x"] * 60, *traceback(SIZES)).context == ()


def test_lines_without_a_time_take_the_last_one_of_their_stream():
    fault = only_fault("[2026-05-11 12:00:21 TP0] hello", *traceback(SIZES, head=""))

    assert fault.clock.engine is not None


def test_a_request_served_is_progress():
    [run] = reading_of(batch(3), '[x] INFO: 1.2.3.4:5 - "GET /health HTTP/1.1" 200 OK').runs

    assert run.progress == {"server.log": 2}
    assert "served" in run.setup.milestones
