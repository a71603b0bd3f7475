import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.launch.braces import MAX_WORDS, expand_braces
from ddtree_doctor.launch.words import Piece, Word
from tests.launch.sample import bash_words, fields, needs_bash, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{1..4}", ["1", "2", "3", "4"]),
        ("{08..10}", ["08", "09", "10"]),
        ("{10..1..4}", ["10", "6", "2"]),
        ("{a..c}x", ["ax", "bx", "cx"]),
        ("a{b,c{d,e}}f", ["abf", "acdf", "acef"]),
        ("{a}", ["{a}"]),
        ("{a,b", ["{a,b"]),
        ("'{a,b}'", ["{a,b}"]),
        ("{}", ["{}"]),
    ],
)
def test_braces_stand_for_several_words(text, expected):
    assert words(f"show {text}") == [expected]


@needs_bash
@given(text=st.text(st.sampled_from("ab12.,{}\"'-"), max_size=14))
def test_braces_are_those_of_bash(text, tmp_path_factory):
    script = f"show {text}x\n"
    meant = None if text.count('"') % 2 or text.count("'") % 2 else bash_words(script, tmp_path_factory.getbasetemp())
    if meant is not None:
        assert words(script) == meant


@pytest.mark.parametrize("text", ["{1..99999999}", "{a,b}" * 40, "{" * 200 + "a,b" + "}" * 200])
def test_more_words_than_anyone_means_are_not_made(text):
    (shown,) = fields(f"show {text}")
    assert len(shown) == 1 or len(shown) <= MAX_WORDS


def test_unmatched_braces_take_linear_time():
    word = Word((Piece("{" * 200_000, 1),), 1)
    assert len(expand_braces(word)) == 1
