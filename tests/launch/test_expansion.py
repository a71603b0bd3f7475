import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ddtree_doctor.errors import UsageError
from tests.launch.sample import bash_words, fields, needs_bash, words

PRELUDE = "X='a  b'\nY=\" c \"\nE=\nN=7\nA=(1 '2 3' '')\nset -- p 'q r'\n"
PIECES = [
    *("a", " ", "'", '"', "$X", "${X}", "$Y", "${Y}", "$E", "${X:-d}", "${U-d e}", "${U:-'d e'}", '"${U:-d e}"', "\\"),
    *("${X:+p q}", "${U+z}", "${A[@]}", '"${A[@]}"', '"${A[*]}"', "${A[1]}", "$A", "\n", "\\\n", "#", '"$X"', '"$Y"'),
    *(
        'x"$E"',
        "${U:=k l}",
        "$U",
        '${A[@]+"${A[@]}"}',
        "$((1+2*3))",
        "$((N*2))",
        "$N",
        '"$@"',
        "$*",
        "$1",
        '"$2"',
        "$#",
    ),
    *("${E:-}", "${E-}", '"${E}"', '"$E"', '"$*"', "${A[-1]}", "${A[9]}", "$((-7/2))", "$((7%4-(2+3)))"),
]


@needs_bash
@settings(max_examples=250)
@given(parts=st.lists(st.sampled_from(PIECES), min_size=1, max_size=8))
@example(parts=["$X\\\nY"])
@example(parts=['"x${A[@]}y"', "${A[@]}"])
@example(parts=['${U:-""}', " ", "$E", " ", '""'])
def test_parameters_are_those_of_bash(parts, tmp_path_factory):
    script = PRELUDE + "show " + "".join(parts) + "\n"
    meant = bash_words(script, tmp_path_factory.getbasetemp())
    try:
        found = words(script)
    except UsageError:
        assert meant is None
        return
    if meant is not None and None not in found:
        assert found == meant


def test_an_unset_variable_is_not_known_and_spoils_its_own_word_only():
    (shown,) = fields("show --tp $TP --dp 2")
    assert [(one.text, one.why) for one in shown] == [
        ("--tp", ""),
        ("$TP", "`$TP` is not set in this file"),
        ("--dp", ""),
        ("2", ""),
    ]


def test_a_default_is_taken_and_said():
    (shown,) = fields('TP=${TP:-8}\nshow "$TP"')
    assert [(one.text, one.why) for one in shown] == [("8", "")]
    assert [piece.assumed for one in shown for piece in one.pieces] == [
        "$TP is not set in this file; its default is taken"
    ]


def test_a_word_from_a_variable_points_at_the_line_of_its_text():
    script = 'ARGS="--a 1 \\\n --b 2"\nB=(\n --c\n 3)\nshow $ARGS "${B[@]}"'
    assert [(one.text, one.line) for one in fields(script)[0]] == [
        ("--a", 1),
        ("1", 1),
        ("--b", 2),
        ("2", 2),
        ("--c", 4),
        ("3", 5),
    ]


@pytest.mark.parametrize("use", ["${S_TOKEN}", '"$S_TOKEN"', "$S_TOKEN", "${S_TOKEN:-canary}", "${T_TOKEN:=canary}"])
def test_a_secret_variable_holds_no_secret_from_its_assignment_on(use):
    assert words(f"S_TOKEN=canary\nshow x{use}") == [["x***"]]


def test_values_that_double_without_end_are_cut_off():
    script = "A=0123456789\n" + "A=$A$A\n" * 40 + "show $A"
    assert "characters" in fields(script)[0][0].why
