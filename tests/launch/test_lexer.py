import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.errors import UsageError
from ddtree_doctor.launch.lexer import MAX_TOKENS, tokenize
from ddtree_doctor.launch.source import Source
from ddtree_doctor.launch.words import ArrayWord


def tokens(text):
    return tokenize(Source.of_text(text, "script"))


def shown(text):
    """Words as their text, everything else as its kind or sign."""
    found = []
    for token in tokens(text):
        if token.word is None:
            found.append(token.text if token.kind == "operator" else token.kind)
        elif isinstance(token.word, ArrayWord):
            found.append([item.begins for item in token.word.items])
        else:
            found.append("".join(getattr(part, "text", part[0]) for part in token.word.parts))
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b # c\nd", ["a", "b", "newline", "d", "end"]),
        ("a#b", ["a#b", "end"]),
        ("a && b || c; d & e | f |& g", ["a", "&&", "b", "||", "c", ";", "d", "&", "e", "|", "f", "|&", "g", "end"]),
        ("a > x 2>&1 < y b", ["a", "b", "end"]),
        ("a &> x >> y 2>/dev/null b", ["a", "b", "end"]),
        ("a > >(tee log) b", ["a", "b", "end"]),
        ("a <<E b\n it's\nE\nc", ["a", "b", "newline", "c", "end"]),
        ("a <<-'E'\n\tx\n\tE\nb", ["a", "newline", "b", "end"]),
        ("a <<< word b", ["a", "b", "end"]),
        ("A=(1 2 # c\n 3) b", [["1", "2", "3"], "b", "end"]),
        ("((i < 8)) && a", ["arithmetic", "&&", "a", "end"]),
        ("((a); (b))", ["(", "(", "a", ")", ";", "(", "b", ")", ")", "end"]),
        ("a --model <MODEL> b", ["a", "--model", "<MODEL>", "b", "end"]),
        ("a \\\n b", ["a", "b", "end"]),
    ],
)
def test_words_operators_and_line_ends_are_told_apart(text, expected):
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("a \\ \n", "space-after-backslash"),
        ("a \\\t\n", "space-after-backslash"),
        ("a \\ # why\n", "comment-after-backslash"),
        ("a \\  # why\n", "comment-after-backslash"),
        ("a \\\r\n", "carriage-return"),
        ("a # why \\\n", "comment-before-backslash"),
        ("a \\\n # why\n", "comment-among-flags"),
        ("a \\\n\n", "blank-line"),
        ("a # why\n", ""),
        ("a\n", ""),
        ("a \\\n b\n", ""),
    ],
)
def test_the_fault_that_ends_a_command_is_named(text, cut):
    assert [token.cut for token in tokens(text) if token.kind == "newline"][-1] == cut


HOSTILE = [
    *("a " * 100_000, "a" * 5_000_000, "'" + "a\n" * 200_000 + "'", "((" * 300_000, "\\ " * 200_000, "$((" * 3000),
    *(
        "\\ #" * 100_000,
        '"$' * 100_001,
        "A=(" + "x " * 100_000 + ")",
        "<a " * 100_000,
        "<<A " * 100_000,
        "{{" * 100_000,
    ),
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:6])
def test_no_long_line_takes_more_than_linear_time(text):
    begin = time.process_time()
    with suppress(UsageError):
        tokens(text)
    assert time.process_time() - begin < 20


def test_more_words_than_any_launch_has_are_refused():
    with pytest.raises(UsageError, match=f"more than {MAX_TOKENS} words"):
        tokens("a\n" * MAX_TOKENS)


@given(text=st.text(st.sampled_from("ab \\\n\t\r#'\"$(){}[]<>&|;=`-+:!*?~1"), max_size=40) | st.text(max_size=40))
def test_no_text_raises_anything_but_a_usage_error(text):
    with suppress(UsageError):
        assert tokens(text)[-1].kind == "end"
