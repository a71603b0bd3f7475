"""Wrappings come off in any order and number; what remains is what the process wrote."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.triage.model import Place
from ddtree_doctor.triage.unwrap import unwrap

CASES = [
    ("[2025-11-03 12:00:00 TP3] text", dict(writer="TP3", fresh=True)),
    ("[2025-11-03 12:00:00.123 DP1 TP0 EP0] text", dict(writer="DP1 TP0 EP0", fresh=True)),
    ("[2025-11-03 12:00:00] text", dict(writer="", fresh=True)),
    (
        "(EngineCore_DP0 pid=12) ERROR 11-03 12:00:00 [core.py:712] text",
        dict(stream="EngineCore_DP0 pid=12", level="ERROR"),
    ),
    ("[rank3]: text", dict(stream="rank3", fresh=False)),
    ("[rank3]:[E1103 12:00:00.123456 ProcessGroupNCCL.cpp:632] text", dict(stream="rank3", level="ERROR", fresh=True)),
    ("[pod/serve-0/engine] text", dict(stream="pod/serve-0/engine")),
    ("2025-11-03T12:00:00.1Z text", dict(fresh=False)),
    ("2025-11-03T12:00:00.1Z stderr F text", dict(partial=False)),
    ("2025-11-03T12:00:00.1Z stderr P text", dict(partial=True)),
    ("Nov 03 12:00:00 node-3 serve.sh[42]: text", dict(stream="serve.sh[42]")),
    ("2025-11-03T12:00:00+0000 node-3 serve.sh[42]: text", dict(stream="serve.sh[42]")),
    ("engine-1  | text", dict(stream="engine-1")),
    ("INFO:     text", dict(level="INFO", fresh=True)),
    ("ERROR text", dict(level="ERROR", fresh=True)),
    ("2025-11-03 12:00:00,123 - sglang - ERROR - text", dict(level="ERROR", fresh=True)),
    ("2025-11-03 12:00:00 WARNING text", dict(level="WARNING")),
    ("[12345.678901] text", dict(fresh=False)),
    ("[1,3]<stderr>:text", dict(stream="3")),
    ("3: text", dict(stream="3")),
    ("text", dict(fresh=False)),
    (
        json.dumps({"log": "text\n", "stream": "stderr", "time": "2025-11-03T12:00:00Z"}),
        dict(partial=False, fresh=False),
    ),
    (json.dumps({"log": "text", "stream": "stderr", "time": "2025-11-03T12:00:00Z"}), dict(partial=True)),
    (json.dumps({"message": "text", "level": "error"}), dict(level="ERROR", fresh=True)),
]


@pytest.mark.parametrize(("raw", "fields"), CASES, ids=[raw[:30] for raw, _ in CASES])
def test_one_layer(raw, fields):
    peeled = unwrap(raw)

    assert peeled.text == "text"
    assert {name: getattr(peeled, name) for name in fields} == fields


def test_layers_stack():
    raw = json.dumps(
        {"log": "[pod/a/b] (Worker_TP1 pid=7) ERROR 11-03 12:00:00 [w.py:1]   File\n", "stream": "stderr", "time": "x"}
    )

    peeled = unwrap(raw)

    assert (peeled.text, peeled.stream, peeled.level) == ("  File", "pod/a/b Worker_TP1 pid=7", "ERROR")


def test_a_structured_logger_keeps_its_traceback():
    peeled = unwrap(json.dumps({"message": "boom", "exc_info": "Traceback (most recent call last):\nKeyError: 1"}))

    assert peeled.text.split("\n") == ["boom", "Traceback (most recent call last):", "KeyError: 1"]


def test_leading_blanks_of_the_text_stay():
    assert unwrap('[rank3]:   File "x"').text == '  File "x"'


@pytest.mark.parametrize(
    "raw", ["{", "{}", '{"log": 3}', '{"a": 1}', "[1, 2]", "[", "(", "RuntimeError: x", '  File "x"', ""]
)
def test_what_is_no_wrapping_stays(raw):
    assert unwrap(raw).text == raw


def test_a_line_names_its_writer():
    line = unwrap("[pod/a/b] [2025-11-03 12:00:00 TP3] x").line(Place(file="f", line=1, text="x"))

    assert line.writer == "pod/a/b TP3"
    assert line.stream == "pod/a/b"


@given(st.text())
def test_never_raises(text):
    unwrap(text)


@given(st.lists(st.sampled_from([raw.removesuffix("text") for raw, _ in CASES if raw.endswith("text")]), max_size=3))
def test_plain_text_comes_out_of_any_stack(layers):
    assert unwrap("".join(layers) + "payload").text == "payload"
