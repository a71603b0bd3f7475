"""First cause first; echoes are named; what a server survived is no incident."""

import pytest

from ddtree_doctor.triage.order import incident
from tests.triage.logs import ARGS, IMA, SIZES, reading_of, traceback

READY = "[2026-05-11 12:00:20 TP0] The server is fired up and ready to roll!"
DECODE = "[2026-05-11 13:00:00 TP0] Decode batch, #running-req: 3, #token: 1"
SIGQUIT = "[2026-05-11 12:00:23] Received sigquit from a child process. It usually means the child failed."
WATCHDOG = "[rank1]:[E511 12:10:00 ProcessGroupNCCL.cpp:632] Watchdog caught collective operation timeout: WorkNCCL(x)"
REFUSED = "requests.exceptions.ConnectionError: HTTPConnectionPool(host='127.0.0.1', port=30000): Max retries exceeded"


def found(*lines):
    return incident(reading_of(*lines).runs[0])


def bare(exception, file="/usr/lib/python3/requests/api.py"):
    return [
        "[2026-05-11 12:00:05] warm-up failed",
        "Traceback (most recent call last):",
        f'  File "{file}", line 1, in post',
        exception,
    ]


def test_the_first_fault_leads_and_the_rest_echo_it():
    incident_ = found(*traceback(SIZES), SIGQUIT, WATCHDOG)

    assert incident_.lead.exception == "RuntimeError"
    assert [echo.why for echo in incident_.echoes] == [
        "a parent reports that a child failed",
        "other ranks wait for one that is gone",
    ]


def test_an_echo_printed_first_does_not_lead():
    assert found(SIGQUIT, WATCHDOG, *traceback(SIZES)).lead.exception == "RuntimeError"


def test_a_time_out_with_nothing_before_it_leads():
    assert found(WATCHDOG, SIGQUIT).lead.kind == "timeout"


def test_a_time_out_after_a_complaint_is_not_blamed():
    assert found("something failed in a way that nobody knows", WATCHDOG).lead.kind == "complaint"


def test_a_log_with_echoes_only_says_so():
    assert found(SIGQUIT).only_echoes


def test_the_same_fault_on_another_rank_is_an_echo():
    again = [line.replace("TP3", "TP4") for line in traceback(SIZES)]

    [echo] = found(*traceback(SIZES), *again).echoes

    assert echo.why == "the same fault on another rank or printed again"


def test_a_kernels_assertion_and_the_traceback_that_surfaces_it_are_one_fault():
    assertion = "[2026-05-11 12:00:22 TP3] Indexing.cu:1: Assertion `srcIndex < srcSelectDimSize` failed."

    incident_ = found(assertion, *traceback("RuntimeError: CUDA error: device-side assert triggered"))

    assert len(incident_.parts) == 2
    assert incident_.lead.frames
    assert incident_.echoes == ()


def test_a_line_of_another_writer_is_no_part():
    assert len(found("[pod/a/x] CUDA error: a", *(f"[pod/b/x] {line}" for line in traceback(IMA))).parts) == 1


def two_files(first, second):
    from ddtree_doctor.triage.reader import read_blocks
    from ddtree_doctor.triage.run import Reading

    reading = Reading()
    for name, lines in (("rank0.log", first), ("rank1.log", second)):
        read_blocks(name, ["\n".join(lines).encode()], reading, ())
    return incident(reading.runs[0])


def test_across_files_the_earlier_clock_leads():
    late = traceback("ValueError: late, and loud", head="[2026-05-11 12:05:00 TP0] Scheduler hit an exception: ")

    incident_ = two_files(late, traceback(SIZES))

    assert incident_.lead.exception == "RuntimeError"
    assert incident_.ordered


def test_without_clocks_it_says_that_the_order_is_not_known():
    assert not two_files(traceback("ValueError: one", head=""), traceback("KeyError: two", head="")).ordered


def test_a_logged_traceback_outside_the_core_that_the_server_survived_is_no_incident():
    assert found(*bare(REFUSED), READY, DECODE) is None


@pytest.mark.parametrize(
    "lines",
    [
        bare(REFUSED),
        [*bare(REFUSED), SIGQUIT.replace("Received", "SIGQUIT received. Received"), "SIGABRT", DECODE],
        [*bare("RuntimeError: x", file="/srv/sglang/srt/layers/attention/triton_backend.py"), DECODE],
        [*traceback(REFUSED), DECODE],
    ],
    ids=["no progress", "something fatal after it", "in the engine's core", "the scheduler says so"],
)
def test_else_it_is_one(lines):
    assert found(*lines) is not None


@pytest.mark.parametrize(
    "name", ["asyncio.exceptions.CancelledError", "KeyboardInterrupt", "starlette.requests.ClientDisconnect"]
)
def test_an_orderly_end_or_one_clients_affair_is_no_incident(name):
    assert found(ARGS, READY, *bare(name)) is None


def test_no_faults_no_incident():
    assert found(ARGS, READY, DECODE) is None
