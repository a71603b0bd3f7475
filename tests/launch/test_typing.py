import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.facts.model import Option
from ddtree_doctor.launch.model import Flag
from ddtree_doctor.launch.typing import malformed, typed


def value(words, type="str", arity="", choices=None, option="--x", options=("--x",)):
    flag = Flag(option=option, name="x", values=tuple(words))
    return typed(flag, Option(name="x", options=options, type=type, arity=arity, choices=choices))


@pytest.mark.parametrize(
    ("words", "how", "expected"),
    [
        (["8"], {"type": "int"}, 8),
        ([" -8 "], {"type": "int"}, -8),
        (["0.9"], {"type": "float"}, 0.9),
        (["x"], {}, "x"),
        ([""], {}, ""),
        (["True"], {"type": "bool"}, True),
        (["off"], {"type": "bool"}, False),
        ([], {"type": "bool", "arity": "0"}, True),
        ([], {"type": "bool", "arity": "0", "option": "--no-x", "options": ("--x", "--no-x")}, False),
        ([], {"type": "bool", "arity": "0", "option": "--no-x", "options": ("--no-x",)}, True),
        ([], {"type": "bool", "arity": "0", "option": "--no-lo", "options": ("--long", "--no-long")}, False),
        (["1", "2"], {"type": "int", "arity": "+"}, (1, 2)),
        ([], {"arity": "*"}, ()),
        ([], {"arity": "?"}, None),
        (["a"], {"arity": "?"}, "a"),
        (["1", "2"], {"type": "int", "arity": "2"}, (1, 2)),
        (["25.6k"], {"type": "human_readable_int"}, 25600),
        (["1Mi"], {"type": "human_readable_int"}, 1048576),
        (["131072"], {"type": "human_readable_int"}, 131072),
        (['{"a": 1}'], {"type": "json.loads"}, {"a": 1}),
        (["[1]"], {"type": "json_list_type"}, [1]),
        (["None"], {"type": "nullable_str"}, None),
        (["fa3"], {"choices": ("fa3", "triton")}, "fa3"),
        (["1"], {"type": "int", "choices": ("1", "2")}, 1),
    ],
)
def test_words_become_values_of_the_option_s_type(words, how, expected):
    found = value(words, **how)
    assert (found.value, found.origin) == (expected, "given")
    assert type(found.value) is type(expected)


@pytest.mark.parametrize(
    ("words", "how", "why"),
    [
        (["eight"], {"type": "int"}, "--x takes a whole number, 'eight' given"),
        (["1" * 5000], {"type": "int"}, "--x takes a whole number, '111"),
        (["1e9999x"], {"type": "float"}, "--x takes a number"),
        (["{"], {"type": "json.loads"}, "--x takes a JSON value"),
        (["[" * 100_000], {"type": "json.loads"}, "--x takes a JSON value"),
        (["1.5Ki"], {"type": "human_readable_int"}, "--x takes a whole number, also as"),
        (["perhaps"], {"type": "bool"}, "--x takes true or false"),
        (["true"], {"arity": "0"}, "--x is a switch, 'true' given"),
        ([], {}, "--x takes one value, none given"),
        ([], {"arity": "+"}, "--x takes one value or more, 0 given"),
        (["1"], {"arity": "2"}, "--x takes 2 values, 1 given"),
        (["fa2"], {"choices": ("fa3", "triton")}, "--x takes one of fa3, triton; 'fa2' given"),
    ],
)
def test_words_that_argparse_refuses_are_not_known_and_say_why(words, how, why):
    found = value(words, **how)
    assert not found.known
    assert found.why.startswith(why)


def test_what_is_not_known_yet_is_no_fault():
    flag = Flag(option="--x", name="x", values=("$X",), unknown="`$X` is not set in this file")
    option = Option(name="x", options=("--x",), type="int")
    assert typed(flag, option).why == "--x: `$X` is not set in this file"
    assert malformed(flag, option) == ""
    assert malformed(Flag(option="--x", name="x", values=("y",)), option).startswith("--x takes a whole number")
    assert malformed(Flag(option="--x", name="x", values=("8",)), option) == ""


@pytest.mark.parametrize(
    ("flag", "name", "expected"),
    [
        (Flag(option="--a-b", name=None, values=("1",)), "a_b", "1"),
        (Flag(option="--a-b", name=None, values=("1", "2")), "a_b", ("1", "2")),
        (Flag(option="--a-b", name=None), "a_b", True),
        (Flag(option="--no-a", name=None), "no_a", False),
    ],
)
def test_a_flag_without_an_option_gives_its_words(flag, name, expected):
    assert (typed(flag, None).name, typed(flag, None).value) == (name, expected)


TYPES = ["int", "float", "bool", "str", "json.loads", "human_readable_int", "nullable_str", "Optional[int]", "anything"]


@given(
    words=st.lists(st.text(), max_size=3),
    type=st.sampled_from(TYPES),
    arity=st.sampled_from(["", "0", "+", "*", "?", "3"]),
)
def test_no_words_raise(words, type, arity):
    found = value(words, type=type, arity=arity)
    assert found.known or found.why
