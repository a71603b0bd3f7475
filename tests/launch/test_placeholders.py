import pytest

from ddtree_doctor.launch.placeholders import why_unknown
from ddtree_doctor.launch.words import Field, Piece


@pytest.mark.parametrize(
    "text",
    [
        "<model>",
        "a/<model name>/b",
        "{model}",
        "http://{host}:1",
        "{{ .x }}",
        "YOUR_MODEL",
        "your-model",
        "/path/to/x",
        "...",
    ],
)
def test_what_is_to_be_filled_in_is_not_known(text):
    assert why_unknown(Field.plain(text)).endswith("is a placeholder to be filled in")


@pytest.mark.parametrize(
    "text",
    ['{"a": {"b": 1}}', "a<b", "${X}", "<8", "/data/path/today", "YOURS", "{% if x %}", "a...b", "***"],
)
def test_other_words_are_known(text):
    assert why_unknown(Field.plain(text)) == ""


def test_a_quoted_star_is_no_pattern():
    assert why_unknown(Field.plain("a*"))
    assert not why_unknown(Field.of((Piece("a*", 1, quoted=True),)))
