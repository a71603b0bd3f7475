import pytest

from ddtree_doctor.engine.source.options import read_options

FIELDS = """
import argparse, json
from typing import List, Literal, Optional
CHOICES = ["a", "b"]
class Namespace:
    _NS_PATH = "n"
    {field}
"""
ARGS = """
from sglang.srt.fields import Namespace
class ServerArgs:
    @staticmethod
    def add_cli_args(parser): ...
_INPUT_NAMESPACES = [Namespace]
"""


@pytest.fixture
def options(tree_of):
    def read(field):
        return read_options(tree_of({"srt/server_args.py": ARGS, "srt/fields.py": FIELDS.replace("{field}", field)}))

    return read


@pytest.fixture
def option(options):
    def read(field):
        (found,) = options(field)
        return found

    return read


@pytest.mark.parametrize(
    ("field", "kind", "arity", "default"),
    [
        ('x: A[int, "Help."] = 3', "int", "", 3),
        ('x: A[Optional[int], "Help."] = None', "int", "", None),
        ('x: A[int | None, "Help."] = None', "int", "", None),
        ('x: A[None | float, "Help."] = 0.5', "float", "", 0.5),
        ('x: A[bool, "Help."] = False', "bool", "0", False),
        ('x: A[Optional[List[int]], Arg(help="Help.")] = None', "int", "+", None),
        ('x: A[list[str], Arg(help="Help.", nargs="*")] = []', "str", "*", []),
        ('x: A[Optional[str], Arg(help="H.", type_parser=json.loads)] = None', "json.loads", "", None),
        ('x: A[Optional[bool], Arg(help="H.", action=argparse.BooleanOptionalAction)] = None', "bool", "0", None),
        ('x: Annotated[dict, Arg(help="H.")] = None', "str", "", None),
        ("x: \"A[int, 'Help.']\" = 3", "int", "", 3),
        ('x: A[int, f"Help {CHOICES}."] = 3', "int", "", 3),
    ],
)
def test_type_and_arity_follow_the_annotation(option, field, kind, arity, default):
    found = option(field)
    assert (found.name, found.type, found.arity, found.default) == ("x", kind, arity, default)
    assert found.default_known


def test_a_required_field_has_no_known_default(option):
    assert not option('x: A[str, "Help."]').default_known


@pytest.mark.parametrize(
    ("field", "choices"),
    [
        ('x: A[str, Arg(help="H.", choices=CHOICES)] = "a"', ("a", "b")),
        ('x: A[Literal["p", "q"], "H."] = "p"', ("p", "q")),
        ('x: A[Optional[Literal["p", "q"]], Arg(choices=CHOICES)] = None', ("a", "b")),
        ('x: A[str, "H."] = "a"', None),
    ],
)
def test_choices_come_from_the_metadata_or_the_literal(option, field, choices):
    assert option(field).choices == choices


def test_spellings_are_the_name_of_the_field_or_those_given(option):
    assert option('x_y: A[int, "H."] = 1').options == ("--x-y",)
    given = option('tp_size: A[int, Arg(cli_name="--tensor-parallel-size", aliases=["--tp"])] = 1')
    assert given.name == "tp_size"
    assert given.options == ("--tensor-parallel-size", "--tp")


def test_a_field_without_metadata_or_kept_off_the_command_line_is_no_option(options):
    assert options("x: int = 1\n    y: A[int, Arg(no_cli=True)] = 2\n    z = 3") == ()
