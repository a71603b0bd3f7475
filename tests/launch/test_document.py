import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.launch.document import Malformed, documents, mapping, mapping_lines, pieces, sequence, walk


def only(text):
    (root,) = documents(text)
    return root


def test_merged_members_yield_to_a_mapping_s_own():
    root = mapping(only("a: &a {x: 1, y: 2}\nb: &b {z: 3}\nc: {<<: [*a, *b], y: 9}\n"))
    assert {key: pieces(node)[0].text for key, node in mapping(root["c"]).items()} == {"x": "1", "y": "9", "z": "3"}


def test_text_knows_its_lines():
    members = mapping(only("a: 1\nb: |\n  x\n\n  y\nc: >\n  p\n  q\n"))
    assert [(piece.text, piece.line) for piece in pieces(members["b"])] == [("x\n", 3), ("\n", 4), ("y\n", 5)]
    assert [(piece.text, piece.line) for piece in pieces(members["c"])] == [("p q\n", 7)]
    assert pieces(members["a"])[0].line == 1
    assert sequence(members["a"]) is None


def test_every_mapping_is_walked_once():
    root = only("a: &a {x: {y: 1}}\nb: [*a, *a, {z: 1}]\n")
    assert [list(mapping(node)) for node in walk(root)] == [["a", "b"], ["x"], ["y"], ["z"]]


def test_aliases_of_aliases_are_walked_in_linear_time():
    text = "a0: &a0 {x: 1}\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 60))
    begin = time.process_time()
    assert len(list(walk(only(text)))) == 2
    assert time.process_time() - begin < 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "no YAML"),
        ("a: b: c", "no YAML"),
        ("{{ x }}: {{ y }}\n- z", "no YAML"),
        ("[" * 500, "nested more than"),
        ("[" * 5000, "nest"),
        ("- x\n" * 300_000, "more than"),
        ("x" * 3_000_000, "at most"),
        ("a: \x01", "no YAML"),
    ],
)
def test_what_is_no_usable_yaml_is_refused(text, message):
    with pytest.raises(Malformed, match=message):
        documents(text)


@given(text=st.text(st.sampled_from("ab:- \n[]{}&*!|>'\"#%@`,?<\t0"), max_size=40) | st.text(max_size=30))
def test_no_text_raises_anything_else(text):
    with suppress(Malformed):
        for root in documents(text):
            for node in walk(root):
                mapping(node)
        mapping_lines(text.encode())
