"""From bytes to runs, whatever wraps, splits or overgrows the lines."""

import json
import time

from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.triage import reader as module
from ddtree_doctor.triage.literal import CAP
from ddtree_doctor.triage.patterns import LINE_CAP
from ddtree_doctor.triage.reader import _parts, read, read_blocks
from ddtree_doctor.triage.run import Reading
from tests.triage.logs import ARGS, SIZES, reading_of, traceback


def docker(text, whole=True):
    return json.dumps({"log": text + ("\n" if whole else ""), "stream": "stderr", "time": "2026-05-11T12:00:00Z"})


def test_a_line_that_docker_split_is_put_together():
    reading = reading_of(docker(ARGS[:80], whole=False), docker(ARGS[80:120], whole=False), docker(ARGS[120:]))

    assert reading.runs[0].setup.number("speculative_ddtree_budget") == 32


def test_a_line_that_cri_split_is_put_together():
    at = "2026-05-11T12:00:00.1Z stderr "
    reading = reading_of(f"{at}P {ARGS[:100]}", f"{at}F {ARGS[100:]}")

    assert reading.runs[0].setup.number("tp_size") == 8


def test_a_split_line_without_its_end_is_still_read():
    assert reading_of(docker(ARGS, whole=False)).runs[0].setup.number("tp_size") == 8


def test_a_traceback_after_a_progress_bar_on_the_same_line():
    bar = "Loading: 10%|#         |\rLoading: 99%|######### |\r" + traceback(SIZES)[0]

    [fault] = reading_of(bar, *traceback(SIZES)[1:]).runs[0].faults

    assert fault.exception == "RuntimeError"


def test_colours_come_off():
    [fault] = reading_of(*(f"\x1b[31m{line}\x1b[0m" for line in traceback(SIZES))).runs[0].faults

    assert fault.message == (SIZES.partition(": ")[2],)


def test_windows_line_ends():
    [fault] = reading_of(*(f"{line}\r" for line in traceback(SIZES))).runs[0].faults

    assert fault.message == (SIZES.partition(": ")[2],)


def test_line_numbers_are_those_of_the_file():
    [fault] = reading_of("x", docker("y\nz"), *map(docker, traceback(SIZES))).runs[0].faults

    assert fault.place.line == 2 + len(traceback(SIZES))


def test_long_lines_come_in_parts_and_a_configuration_whole():
    assert [len(part) for part in _parts("x" * (2 * LINE_CAP + 1))] == [LINE_CAP, LINE_CAP, 1]
    assert [len(part) for part in _parts("server_args=" + "x" * LINE_CAP)] == [LINE_CAP + 12]
    assert all(len(part) <= CAP for part in _parts("{" + "x" * (3 * CAP)))


def test_a_configuration_of_100_kilobytes_is_read_to_its_end():
    filler = ", ".join(f"field_{number}='{'v' * 30}'" for number in range(2000))

    reading = reading_of(f"server_args=ServerArgs({filler}, tp_size=8)")

    assert reading.runs[0].setup.number("tp_size") == 8


def test_several_inputs_are_one_reading(tmp_path):
    for rank in range(2):
        (tmp_path / f"rank{rank}.log").write_text("\n".join(traceback(SIZES)))

    reading = read([str(tmp_path / f"rank{rank}.log") for rank in range(2)], ())

    assert len(reading.files) == 2
    assert {fault.place.file for fault in reading.runs[0].faults} == set(reading.files)


def test_a_flood_of_errors_is_read_at_its_beginning_and_its_end(monkeypatch):
    monkeypatch.setattr(module, "LINES_MAX", 1000)
    monkeypatch.setattr(module, "LATE_BYTES", 20_000)
    flood = "\n".join(["something failed"] * 30_000).encode()
    reading = Reading()

    data = b"KeyError: 'early'\n" + flood + b"\nKeyError: 'late'\n"
    read_blocks("log", [data[at : at + 8192] for at in range(0, len(data), 8192)], reading, ())

    raised = [fault.message[0] for fault in reading.runs[0].faults if fault.kind == "exception"]
    assert raised == ["'early'", "'late'"]
    assert "not read closely" in reading.notes[0]


def test_runs_of_empty_lines_cost_next_to_nothing():
    began = time.thread_time()
    read_blocks("log", [b"\n" * (4 << 20)], Reading(), ())

    assert time.thread_time() - began < 2


@given(st.lists(st.binary(), max_size=5))
def test_never_raises_on_any_bytes(data):
    read_blocks("any", data, Reading(), ())


@given(st.text(), st.integers(1, 200))
def test_never_raises_on_any_text_in_any_blocks(text, size):
    data = text.encode("utf-8", "surrogatepass")
    read_blocks("any", [data[at : at + size] for at in range(0, len(data), size)], Reading(), ())
