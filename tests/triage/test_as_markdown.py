"""Nothing from a log opens a tag, a link, a mention, a heading or a fence."""

import pytest

from ddtree_doctor.triage import to_markdown
from ddtree_doctor.triage.as_markdown import CAP
from tests.triage.logs import ARGS, SIZES, diagnose, traceback

HOSTILE = "<img src=x onerror=y> [x](http://evil) @everyone ``` # heading | cell ![a](b)"


def test_the_note_has_its_parts():
    text = to_markdown(diagnose("sglang version: 0.5.23", ARGS, *traceback(SIZES)))

    assert "### shape-width-mismatch (confidence: high)" in text
    for part in (
        "**Best guess:**",
        "**33** is budget + 1",
        "**Ruled out:**",
        "**Next step:**",
        "Evidence, strongest first",
    ):
        assert part in text
    assert "this launch would have been refused by DD104" in text


@pytest.mark.parametrize("where", ["message", "file name"])
def test_hostile_text_stays_inside_a_code_span(where):
    report = diagnose(f"RuntimeError: {HOSTILE}") if where == "message" else diagnose("RuntimeError: x", name=HOSTILE)

    [line] = [line for line in to_markdown(report).splitlines() if line.startswith("1. ") and "RuntimeError" in line]
    assert "````" in line
    outside = line.split("````")[::2]
    assert not any("<" in part or "@" in part or "](" in part for part in outside)


def test_it_is_cut_below_what_an_issue_comment_holds():
    lines = [
        line for number in range(40) for line in (ARGS, *traceback(f"Error{number}x{'y' * 500}Error: {'z ' * 900}"))
    ]

    assert len(to_markdown(diagnose(*lines))) < CAP + 200
