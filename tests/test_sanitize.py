"""What reaches a sink: printable text, newlines and tabs."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ddtree_doctor.sanitize import one_line, sanitize

HOSTILE = st.text(alphabet=st.characters(codec=None))


@given(HOSTILE)
@example("\x1b\x1b[0m[31m")
@example("\x1b]0;title\x07")
@example("a\r\nb\rc")
@example("\udcff\u202e\u2066")
def test_is_idempotent_encodes_and_holds_no_control_character(text):
    once = sanitize(text)

    assert sanitize(once) == once
    once.encode("utf-8")
    assert not [c for c in once if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in "\n\t"]


@given(st.text(alphabet=st.characters(min_codepoint=0x20, max_codepoint=0x7E)))
def test_leaves_plain_text_alone(text):
    assert sanitize(text) == text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[Hcleared", "cleared"),
        ("\x1b]8;;http://x\x1b\\link", "link"),
        ("bell\x07", "bell\\x07"),
        ("nul\x00", "nul\\x00"),
        ("over\u202ewrite", "over\\u202ewrite"),
        ("two\u2028lines", "two\\u2028lines"),
        ("one\r\ntwo", "one\ntwo"),
        ("progress\rbar", "progress\\rbar"),
        ("lone \x1b escape", "lone \\x1b escape"),
    ],
)
def test_drops_sequences_and_shows_the_rest(raw, shown):
    assert sanitize(raw) == shown


@given(HOSTILE)
@example("::error::pwned")
@example("x\n::set-output name=a::b")
@example("##[error]pwned")
def test_one_line_is_one_line_and_no_runner_command(text):
    line = one_line(text)

    assert "\n" not in line
    assert not line.lstrip().startswith("::")
    assert "##[" not in line
    assert len(line) <= 402


def test_halves_do_not_join_into_a_runner_command():
    assert not one_line(":\x00:error::x").startswith("::")
