import pytest

from ddtree_doctor.engine.source.options import read_options

ACTIONS = """
class DeprecatedAction(argparse.Action):
    def __init__(self, option_strings, dest, error_message=None, nargs=0, **kwargs): ...
class DeprecatedStoreTrueAction(argparse.Action):
    def __init__(self, option_strings, dest, new_flag=None, nargs=0, const=True, default=False, **kwargs): ...
class DeprecatedAliasStoreAction(argparse.Action):
    def __init__(self, option_strings, dest, new_flag=None, **kwargs): ...
class LoRAPathAction(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None): ...
"""
ARGS = """
import argparse, json
from sglang.srt.actions import DeprecatedAction, DeprecatedStoreTrueAction, DeprecatedAliasStoreAction, LoRAPathAction
BACKENDS = ["triton", "fa3"]
class ServerArgs:
    tp_size: int = 1
    backend: str = "triton"
    lora_paths: list = None
    @staticmethod
    def add_cli_args(parser):
        dtypes = ["auto"] + ["half"]
        {call}
"""


@pytest.fixture
def option(tree_of):
    def read(call):
        tree = tree_of({"srt/server_args.py": ARGS.replace("{call}", call), "srt/actions.py": ACTIONS})
        (found,) = read_options(tree)
        return found

    return read


def test_names_type_and_default_are_those_of_the_call(option):
    found = option('parser.add_argument("--tensor-parallel-size", "--tp-size", type=int, default=ServerArgs.tp_size)')
    assert found.name == "tensor_parallel_size"
    assert found.options == ("--tensor-parallel-size", "--tp-size")
    assert (found.type, found.arity, found.default, found.default_known) == ("int", "", 1, True)


def test_a_destination_names_the_field(option):
    assert option('parser.add_argument("--tp", dest="tp_size", type=int)').name == "tp_size"


@pytest.mark.parametrize(
    ("keywords", "choices"),
    [
        ("choices=BACKENDS", ("triton", "fa3")),
        ("choices=dtypes", ("auto", "half")),
        ('choices=["a"] + BACKENDS', ("a", "triton", "fa3")),
        ("choices=[1, 2]", ("1", "2")),
        ("choices=compute()", None),
    ],
)
def test_choices_are_resolved_where_they_can_be(option, keywords, choices):
    assert option(f'parser.add_argument("--x", {keywords})').choices == choices


@pytest.mark.parametrize(
    ("keywords", "kind", "arity", "default"),
    [
        ('action="store_true"', "bool", "0", False),
        ("action=argparse.BooleanOptionalAction, default=None", "bool", "0", None),
        ('nargs="+", type=int', "int", "+", None),
        ("nargs=2", "str", "2", None),
        ("type=json.loads", "json.loads", "", None),
        ('action=LoRAPathAction, nargs="*"', "str", "*", None),
    ],
)
def test_arity_and_type_follow_argparse(option, keywords, kind, arity, default):
    found = option(f'parser.add_argument("--x", {keywords})')
    assert (found.type, found.arity, found.default, found.default_known) == (kind, arity, default, True)


def test_an_optional_boolean_has_both_spellings(option):
    assert option('parser.add_argument("--x", action=argparse.BooleanOptionalAction)').options == ("--x", "--no-x")


@pytest.mark.parametrize(
    ("keywords", "arity", "text"),
    [
        ('action=DeprecatedStoreTrueAction, new_flag="--y"', "0", "use --y"),
        ('action=DeprecatedAliasStoreAction, new_flag="--y", type=int', "", "use --y"),
        ('action=DeprecatedAction, error_message="gone: use --y"', "0", "refused: gone: use --y"),
        ('action=DeprecatedAction, help="No longer used."', "0", "No longer used."),
        ('action="store_true", help="(Deprecated: use --y) Do it."', "0", "(Deprecated: use --y) Do it."),
        ('help="Uses what is not deprecated."', "", ""),
    ],
)
def test_what_the_engine_gives_up_says_what_to_use(option, keywords, arity, text):
    found = option(f'parser.add_argument("--x", {keywords})')
    assert (found.arity, found.deprecated) == (arity, text)


def test_a_name_that_is_computed_is_left_out(tree_of):
    call = 'parser.add_argument(f"--{name}"); parser.add_argument("--known")'
    tree = tree_of({"srt/server_args.py": ARGS.replace("{call}", call)})
    assert [found.options for found in read_options(tree)] == [("--known",)]
