from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.errors import UsageError
from ddtree_doctor.launch.grammar import parse
from ddtree_doctor.launch.lexer import tokenize
from ddtree_doctor.launch.nodes import Alternatives, AndOr, Function, Group, Loop, Pipeline, Simple
from ddtree_doctor.launch.source import Source


def parsed(text):
    return parse(tokenize(Source.of_text(text, "script")))


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("a; b & c", [Simple, Simple, Simple]),
        ("a | b", [Pipeline]),
        ("a && b || c", [AndOr]),
        ("! a", [Simple]),
        ("if a; then b; elif c; then d; else e; fi", [Alternatives]),
        ("case $x in a|b) c;; (d) e;& *) ;; esac", [Alternatives]),
        ("for x in a b; do c; done", [Loop]),
        ("for x\ndo c; done", [Loop]),
        ("for ((i=0; i<8; i++)); do c; done", [Loop]),
        ("while a; do b; done", [Loop]),
        ("until [[ a == b && c < d ]]; do b; done", [Loop]),
        ("{ a; b; }", [Group]),
        ("( a; b )", [Group]),
        ("f() { a; }", [Function]),
        ("function f { a; }; f", [Function, Simple]),
        ("if a; then b", [Simple, Simple]),
        ("done", []),
    ],
)
def test_commands_are_grouped_as_the_shell_groups_them(text, kinds):
    assert [type(node) for node in parsed(text)] == kinds


def test_lines_that_begin_with_a_dash_belong_to_the_command_above():
    (only,) = parsed("a --b 1\n --c \\ \n --d # e \\\n\n --f\n")
    assert [(cut.kind, cut.line) for cut, _ in only.rest] == [
        ("missing-backslash", 1),
        ("space-after-backslash", 2),
        ("comment-before-backslash", 3),
    ]


def test_a_line_after_a_backslash_and_a_blank_is_looked_at_and_stays_a_command():
    first, second = parsed("a --model \\ \nQwen --tp 8\n")
    assert [cut.kind for cut, _ in first.rest] == ["space-after-backslash"]
    assert second.line == 2


@pytest.mark.parametrize("text", ["{ " * 5000, "( " * 5000, "if a; then " * 5000, "f() " * 5000, "! " * 5000])
def test_no_nesting_is_too_deep_to_be_read(text):
    parsed(text)


WORDS = [
    *("if", "then", "elif", "else", "fi", "for", "in", "do", "done", "while", "case", "esac", "{", "}", "(", ")", ";"),
    *("&", "&&", "||", "|", "!", "[[", "]]", "f()", "a", "-b", ";;", "function", "\n"),
]


@given(words=st.lists(st.sampled_from(WORDS), max_size=14))
def test_no_order_of_words_raises_anything_but_a_usage_error(words):
    with suppress(UsageError):
        parsed(" ".join(words))
