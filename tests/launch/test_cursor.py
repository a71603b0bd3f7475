import time

import pytest

from ddtree_doctor.launch.cursor import Cursor, skip_documents
from ddtree_doctor.launch.source import Source


@pytest.mark.parametrize(
    "inside",
    ["a (b) c", "'('", '"("', "\\(", "${x:-(}", "a # (\n", "cat <<E\n(\nE\n", "cat <<-'E'\n(\n\tE\n", '"$(echo ")")"'],
)
def test_what_is_quoted_closes_nothing(inside):
    cursor = Cursor(Source.of_text(f"$({inside}) after", "script"))
    cursor.pos = 2
    assert cursor.skip(")", 0) == inside


def test_nesting_of_any_depth_is_skipped_in_linear_time():
    depth = 200_000
    cursor = Cursor(Source.of_text("$(" * depth + ")" * depth, "script"))
    cursor.pos = 2
    begin = time.process_time()
    cursor.skip(")", 0)
    assert cursor.pos == len(cursor.text)
    assert time.process_time() - begin < 5


def test_documents_end_at_their_own_line():
    text = "one\n\tA\nA\ntwo\n\tB\nrest"
    assert text[skip_documents(text, 0, [("A", False), ("B", True)]) :] == "rest"


def test_a_document_without_its_end_takes_the_rest():
    assert skip_documents("one\ntwo", 0, [("A", False)]) == len("one\ntwo")
