import json
import subprocess
import sys

import pytest

from ddtree_doctor.engine.source.locate import locate
from ddtree_doctor.engine.source.options import read_options
from ddtree_doctor.engine.source.tree import SourceTree
from tests.engine.source.trees import NEWEST, OLDEST

PARSER = """
import argparse, json
from sglang.srt.server_args import ServerArgs
parser = argparse.ArgumentParser()
ServerArgs.add_cli_args(parser)
print(json.dumps([
    [a.option_strings, a.dest, a.nargs if a.nargs is None else str(a.nargs), a.choices and sorted(map(str, a.choices)),
     repr(a.default), getattr(a.type, "__name__", None)]
    for a in parser._actions if a.dest != "help"
]))
"""


def test_both_ways_to_define_options_are_read(tree_of):
    newest = {option.name: option for option in read_options(tree_of(NEWEST))}
    assert newest["model_path"].options == ("--model-path", "--model")
    assert newest["load_format"].choices == ("auto", "dummy")
    assert newest["config"].options == ("--config",)


def test_an_old_engine_registers_every_option_by_hand(tree_of):
    (option,) = read_options(tree_of(OLDEST))
    assert (option.options, option.default) == (("--tensor-parallel-size", "--tp-size"), 1)


def test_a_current_spelling_stands_before_a_deprecated_one_of_the_same_field(tree_of):
    files = {
        "srt/server_args.py": """
class ServerArgs:
    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--old", dest="x", action=DeprecatedAliasStoreAction, new_flag="--x")
        parser.add_argument("--x", type=int)
"""
    }
    assert [option.options for option in read_options(tree_of(files))] == [("--x",), ("--old",)]


def test_what_serve_takes_itself_is_an_option(tree_of):
    serve = "def _extract_model_type_override(argv):\n    for arg in argv:\n        if arg == '--model-type': ...\n"
    options = read_options(tree_of({**NEWEST, "cli/serve.py": serve}))
    assert ("--model-type",) in [option.options for option in options]


def test_without_server_args_there_are_no_options(tree_of):
    assert read_options(tree_of({"srt/x.py": ""})) == ()


@pytest.mark.engine
@pytest.mark.slow
def test_the_installed_engines_own_parser_agrees_in_every_option():
    answer = subprocess.run([sys.executable, "-c", PARSER], check=True, capture_output=True, text=True)
    real = {tuple(options): rest for options, *rest in json.loads(answer.stdout.splitlines()[-1])}
    read = {option.options: option for option in read_options(SourceTree(locate(None)))}
    assert set(real) == set(read) - {("--model-type",)}
    for options, (name, arity, choices, default, kind) in real.items():
        option = read[options]
        assert (option.name, option.arity or None) == (name, arity), options
        assert (option.choices and sorted(option.choices)) == choices, options
        assert not option.default_known or repr(option.default) == default, options
        assert option.type == "bool" or option.type.rpartition(".")[2] == (kind or "str"), options
    assert {options for options in real if not read[options].default_known} <= {("--model-path", "--model")}
