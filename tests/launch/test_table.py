import argparse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.launch import nearest
from ddtree_doctor.launch.table import Table
from tests.launch.sample import OPTIONS

TABLE = Table(OPTIONS)

CHARACTERS = st.sampled_from("-=1.5 atpcudhrs")


@given(
    argument=st.text(CHARACTERS, max_size=8)
    | st.sampled_from([text for option in OPTIONS for text in option.options]).flatmap(
        lambda text: st.integers(2, len(text)).map(lambda end: text[:end])
    )
)
def test_options_and_abbreviations_are_those_of_argparse(argument):
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    for option in OPTIONS:
        parser.add_argument(*option.options, dest=option.name, nargs="*")
    try:
        taken, extra = parser.parse_known_args([argument])
    except (argparse.ArgumentError, SystemExit):
        return
    given_names = [name for name, value in vars(taken).items() if value is not None]
    option = TABLE.option(argument.partition("=")[0]) if TABLE.is_option(argument) else None
    assert ([option.name] if option else []) == given_names
    assert bool(extra) == (option is None)


@pytest.mark.parametrize(
    ("option", "first"),
    [
        ("--tp_size", "--tp-size"),
        ("--TP-SIZE", "--tp-size"),
        ("-tp", "--tp"),
        ("--speculative-num-draft-token", "--speculative-num-draft-tokens"),
        ("--mem-frac-static=0.9", "--mem-fraction-static"),
        ("--cuda-graph-bs", "--cuda-graph-bs-decode"),
    ],
)
def test_the_nearest_option_comes_first(option, first):
    assert nearest(option, OPTIONS)[0] == first
    assert len(nearest(option, OPTIONS)) <= 3


def test_nothing_is_near_to_what_is_like_nothing():
    assert nearest("--qqqqqqqqqq", OPTIONS) == ()
