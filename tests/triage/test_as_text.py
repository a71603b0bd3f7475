import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.triage import to_text, triage_blocks
from tests.triage.logs import ARGS, SIZES, diagnose, traceback


def test_the_note_reads_in_the_order_of_an_incident_note():
    lines = to_text(diagnose("sglang version: 0.5.23", ARGS, *traceback(SIZES)))

    text = "\n".join(lines)
    assert lines[2] == "■ shape-width-mismatch · confidence high"
    order = [
        "best guess",
        "evidence",
        "number",
        "ruled out",
        "not in a log",
        "next step",
        "fix",
        "workaround",
        "before launch",
        "rules",
    ]
    places = [text.index(f"\n  {word}") for word in order]
    assert places == sorted(places)
    assert "this launch would have been refused by DD104" in text


@pytest.mark.parametrize(
    ("lines", "first"),
    [
        ((ARGS,), "■ no fault found in server.log"),
        (("hello",), "■ no verdict: not one line of SGLang or vLLM is in it"),
    ],
)
def test_the_first_line_is_the_verdict(lines, first):
    assert to_text(diagnose(*lines))[0].startswith(first)


@given(st.text(alphabet=st.characters(codec=None)))
def test_no_line_can_be_misread_by_a_terminal_or_a_ci_runner(text):
    data = f"RuntimeError: {text}\n".encode("utf-8", "surrogatepass")

    for line in to_text(triage_blocks({text.replace("\0", ""): [data]})):
        assert not {unicodedata.category(char) for char in line} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
