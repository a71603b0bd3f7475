import pytest

from ddtree_doctor.errors import UsageError
from ddtree_doctor.launch.source import MAX_BYTES, Mark, Source, decode
from ddtree_doctor.launch.words import Piece


def test_text_knows_its_lines():
    source = Source.of_text("a\nbc\n", "run.sh", line=10)
    assert [source.at(offset) for offset in (0, 1, 2, 4, 5)] == [Mark(10), Mark(10), Mark(11), Mark(11), Mark(12)]
    assert source.place(3) == "run.sh:11"


def test_text_made_of_pieces_keeps_their_lines_and_what_is_not_known():
    source = Source.of_pieces((Piece("ab", 3), Piece("$X", 7, why="unset"), Piece("c", None)), "run.sh")
    assert source.text == "ab$Xc"
    assert [source.at(offset) for offset in (1, 2, 4)] == [Mark(3), Mark(7, "unset"), Mark(None)]
    assert source.place(4) == "run.sh"
    assert source.spans(1, 5) == [(1, 2), (2, 4), (4, 5)]
    assert source.spans(2, 2) == [(2, 2)]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "run.sh: the file is empty"),
        (b" \n\t\n", "run.sh: the file is empty"),
        (b"\x7fELF\n\n\0\0", "run.sh:3: a binary file"),
        ("sglang serve x".encode("utf-16"), "run.sh:1: a binary file"),
        (b"a" * (MAX_BYTES + 1), f"run.sh: {MAX_BYTES + 1} bytes; a launch file has at most"),
    ],
)
def test_what_is_no_text_is_refused(data, message):
    with pytest.raises(UsageError) as error:
        decode(data, "run.sh")
    assert str(error.value).startswith(message)


def test_a_comment_in_another_encoding_hides_nothing():
    assert decode(b"\xef\xbb\xbf# caf\xe9\nsglang serve x", "run.sh") == "# caf\\xe9\nsglang serve x"
