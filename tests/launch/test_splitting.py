import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.errors import UsageError
from ddtree_doctor.launch.splitting import split
from ddtree_doctor.launch.words import Piece


def words(text, **how):
    return [one.text for one in split((Piece(text, 1),), "unit", **how)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a  b\nc", ["a", "b", "c"]),
        ('a \'b c\' "d \\" e" f\\ g', ["a", "b c", 'd " e', "f g"]),
        ("a'b'\"c\"", ["abc"]),
        ("'' a", ["", "a"]),
        ("a; b & c | $X $(y) # z", ["a;", "b", "&", "c", "|", "$X", "$(y)", "#", "z"]),
        ("'a\\' b", ["a\\", "b"]),
    ],
)
def test_quotes_hold_words_together_and_nothing_else_is_special(text, expected):
    assert words(text) == expected


def test_systemd_reads_escapes_everywhere():
    assert words(r"a\x20b 'c\td' \"e", c_escapes=True) == ["a b", "c\td", '"e']


def test_words_keep_lines_and_what_is_not_known():
    fields = split((Piece("a ", 1), Piece("b", 2), Piece("$X", 2, why="unset"), Piece(" c\n", 3)), "unit")
    assert [(one.text, one.line, one.why) for one in fields] == [("a", 1, ""), ("b$X", 2, "unset"), ("c", 3, "")]


@pytest.mark.parametrize("quote", ["'", '"'])
def test_an_open_quote_is_refused_with_its_line(quote):
    with pytest.raises(UsageError, match=r"^unit:2: unterminated quote"):
        split((Piece("a\n", 1), Piece(f"b {quote}c", 2)), "unit")


@given(argv=st.lists(st.text(st.characters(blacklist_categories=["Cs"]))))
def test_quoting_and_splitting_again_gives_the_same_words(argv):
    assert words(shlex.join(argv)) == argv
