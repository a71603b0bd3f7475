import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.launch.ansi import quote, unescape
from tests.launch.sample import words

texts = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), min_size=1)


@pytest.mark.parametrize(
    ("escaped", "text"),
    [(r"a\nb", "a\nb"), (r"\x41\101", "AA"), (r"\u00e9", "é"), (r"\q", r"\q"), (r"a\0b", "a"), (r"\ud800", "\ufffd")],
)
def test_escapes_stand_for_their_characters(escaped, text):
    assert unescape(escaped) == text


@given(text=texts)
def test_a_quoted_word_is_one_line_and_reads_as_itself(text):
    assert "\n" not in quote(text)
    assert words(f"show {quote(text)}") == [[text]]
