"""Tracebacks are gathered whatever is printed between their lines and however they are dressed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.triage.exceptions import STREAMS_MAX, Exceptions
from ddtree_doctor.triage.model import Line, Place
from tests.triage.logs import reading_of, traceback


def faults(*lines):
    return [fault for run in reading_of(*lines).runs for fault in run.faults if fault.kind == "exception"]


def test_frames_code_type_and_message_are_gathered():
    [fault] = faults(*traceback("RuntimeError: boom", "managers/scheduler.py:run_batch:self.forward()"))

    assert (fault.exception, fault.message, fault.writer) == ("RuntimeError", ("boom",), "TP3")
    assert fault.head == "Scheduler hit an exception"
    assert fault.frames[0].function == "run_batch"
    assert fault.frames[0].source == "self.forward()"
    assert fault.place.line == 4


def test_a_chain_is_one_fault_with_its_first_cause_first():
    [fault] = faults(
        *traceback("ValueError: first"),
        "",
        "During handling of the above exception, another exception occurred:",
        "",
        *traceback("KeyError: 'second'", head=""),
        "",
        "The above exception was the direct cause of the following exception:",
        "",
        *traceback("Exception: Capture cuda graph failed: first", head=""),
    )

    assert [each.exception for each in fault.chain()] == ["ValueError", "KeyError", "Exception"]
    assert fault.head == "Scheduler hit an exception"


def test_a_chain_cut_in_its_middle_still_gives_its_first_cause():
    found = faults(
        *traceback("ValueError: first"), "", "During handling of the above exception, another exception occurred:"
    )

    assert [fault.exception for fault in found] == ["ValueError"]


def test_a_message_goes_on_over_lines_and_stops_at_the_next_record():
    [fault] = faults(
        *traceback("RuntimeError: CUDA error: x"), "second line", "[2026-05-11 12:00:23 TP0] unrelated", "", "third"
    )

    assert fault.message == ("CUDA error: x", "second line")


@pytest.mark.parametrize(
    "between", ["[2026-05-11 12:00:22 TP5] Decode batch, #running-req: 3", '[2026-05-11 12:00:22] INFO: "GET"']
)
def test_lines_of_other_writers_between_its_lines_are_passed_over(between):
    lines = traceback("RuntimeError: boom", "a.py:f:g()", "b.py:g:raise")
    woven = [line for pair in ((each, between) for each in lines) for line in pair]

    [fault] = faults(*woven)

    assert [frame.function for frame in fault.frames] == ["f", "g"]
    assert fault.frames[1].source == "raise"


def test_two_ranks_interleaved_line_by_line_keep_their_frames():
    one = [f"[rank0]: {line}" for line in traceback("ValueError: a", "a.py:f", head="")]
    two = [f"[rank1]: {line}" for line in traceback("KeyError: b", "b.py:g", head="")]

    found = faults(*(line for pair in zip(one, two, strict=True) for line in pair))

    assert {(fault.exception, fault.frames[0].function, fault.writer) for fault in found} == {
        ("ValueError", "f", "rank0"),
        ("KeyError", "g", "rank1"),
    }


def test_every_line_prefixed_by_the_logger():
    lines = traceback("torch.AcceleratorError: CUDA error: x", head="")
    prefix = "(EngineCore_DP0 pid=7) ERROR 11-03 12:00:00 [core.py:712] "
    other = "(EngineCore_DP0 pid=7) INFO 11-03 12:00:00 [core.py:1] fine"

    [fault] = faults(*(text for line in [*lines, "CUDA kernel errors might"] for text in (prefix + line, other)))

    assert fault.exception == "AcceleratorError"
    assert len(fault.frames) == 2
    assert fault.message[1] == "CUDA kernel errors might"


def test_boxed_by_rich():
    [fault] = faults(
        "╭──────── Traceback (most recent call last) ────────╮",
        "│ /srv/app/a.py:12 in run                            │",
        "│                                                    │",
        "│   11 │   x = 1                                     │",
        "│ ❱ 12 │   boom(x)                                   │",
        "╰────────────────────────────────────────────────────╯",
        "RuntimeError: boom",
    )

    assert fault.exception == "RuntimeError"
    assert (fault.frames[0].function, fault.frames[0].source) == ("run", "boom(x)")


def test_markers_under_the_code_are_no_code():
    [fault] = faults(*traceback("KeyError: 'x'", "a.py:f:d['x']")[:-1], "    ~^^^^^", "KeyError: 'x'")

    assert fault.frames[0].source == "d['x']"


def test_a_traceback_without_its_end_is_reported_as_such():
    [fault] = faults(*traceback("RuntimeError: boom")[:-1])

    assert not fault.complete
    assert fault.frames


@pytest.mark.parametrize(
    "name", ["queue.Empty", "zmq.error.Again: Resource temporarily unavailable", "MLIRError: failed"]
)
def test_exceptions_by_any_name_end_a_traceback(name):
    [fault] = faults(*traceback(name, "a.py:f:g()"))

    assert fault.exception == name.partition(":")[0].rpartition(".")[2]


@pytest.mark.parametrize(
    "line",
    [
        "WARNING RuntimeError: retrying",
        "INFO:     ValueError: shown to the client",
        "Ignore import error when loading x: ImportError",
    ],
)
def test_an_exception_in_a_warning_is_no_fault(line):
    assert faults(line) == []


def test_a_lone_exception_line_is_one():
    assert [fault.exception for fault in faults("RuntimeError: lonely")] == ["RuntimeError"]


def test_deep_recursion_keeps_both_ends():
    deep = traceback("RecursionError: maximum recursion depth exceeded", *(f"a.py:f{depth}" for depth in range(2000)))

    [fault] = faults(*deep)

    assert fault.frames[0].function == "f0"
    assert fault.frames[-1].function == "f1999"
    assert len(fault.frames) <= 121


PIECES = st.sampled_from(
    [
        *traceback("RuntimeError: boom", "a.py:f:g()"),
        "",
        "During handling of the above exception, another exception occurred:",
        "[rank1]: Traceback (most recent call last):",
        '[rank1]:   File "x.py", line 1, in f',
        "│ ❱ 12 │ x │",
        "INFO:     x",
    ]
)


@given(st.lists(PIECES))
def test_never_raises_and_loses_no_complete_exception(lines):
    found = faults(*lines)

    assert ("RuntimeError: boom" in lines) <= any(
        each.exception == "RuntimeError" for fault in found for each in fault.chain()
    )


def test_any_number_of_streams_is_held_in_bounded_memory():
    reports = []
    gathered = Exceptions(reports.append, lambda fault: fault)
    for number in range(3 * STREAMS_MAX):
        text = "RuntimeError: boom"
        gathered.single(Line(place=Place(file="f", line=number, text=text), stream=f"pod/{number}"))
        gathered.take(
            Line(place=Place(file="f", line=number, text="Traceback (most recent call last)"), stream=f"p{number}")
        )

    assert len(gathered._ended) <= STREAMS_MAX
    assert len(gathered._open) <= STREAMS_MAX
    assert len(reports) >= STREAMS_MAX
