"""The installed SGLang's own command line reads generated words as `Flags` and `typed` do."""

import json
import random
import subprocess
import sys

import pytest

from ddtree_doctor.launch import read_command
from ddtree_doctor.launch.options import REFUSED
from ddtree_doctor.launch.secrets import is_secret_name
from ddtree_doctor.launch.typing import typed

pytestmark = [pytest.mark.engine, pytest.mark.slow]

CASES = 1000

PARSER = """
import argparse, json, sys
from sglang.srt.server_args import ServerArgs

parser = argparse.ArgumentParser(prog="launch")
ServerArgs.add_cli_args(parser)
for action in parser._actions:
    action.default, action.required = argparse.SUPPRESS, False

def parsed(words):
    try:
        return vars(parser.parse_args(words))
    except SystemExit:
        return None

print("ANSWER" + json.dumps([parsed(words) for words in json.load(sys.stdin)], default=str))
"""

UNLIKE = {"config", "help", "enable_amd_monokernel", "lora_paths", "model_checksum", "model_type"}
"""Fields whose engine value is made by an action of its own, and those of other parsers."""

WORDS = {
    "int": ["1", "-1", "8", "eight"],
    "float": ["0.5", "-.5", "1e3", "x"],
    "bool": ["true", "x"],
    "json.loads": ['{"a": 1}', "{"],
    "json_list_type": ["[1]", "["],
    "human_readable_int": ["8", "1k", "1Mi", "1.5Ki"],
}


def argument(option, chance):
    """An option as someone may write it, with values that it may take."""
    text = chance.choice(option.options)
    if chance.random() < 0.2:
        text = text[: chance.randint(max(len(text) - 4, 3), len(text))]
    words = list(option.choices or WORDS.get(option.type, ["word", "a=b", "-x", ""]))
    if option.arity == "0":
        return [text, *(["true"] if chance.random() < 0.05 else [])]
    if option.arity == "" and chance.random() < 0.4:
        return [f"{text}={chance.choice(words)}"]
    count = 1 if option.arity == "" and chance.random() < 0.95 else chance.randint(0, 3)
    return [text, *chance.choices(words, k=count)]


@pytest.fixture(scope="module")
def options():
    from ddtree_doctor.engine.source import read_engine

    return read_engine().options


@pytest.fixture(scope="module")
def cases(options):
    """(words, what the engine's parser makes of them) of generated command lines."""
    chance = random.Random(20)
    usable = [option for option in options if option.name not in UNLIKE and not is_secret_name(option.name)]
    drawn = [[argument(option, chance) for option in chance.sample(usable, chance.randint(1, 4))] for _ in range(CASES)]
    words = [[word for one in case for word in one] for case in drawn]
    done = subprocess.run(
        [sys.executable, "-c", PARSER], input=json.dumps(words), capture_output=True, text=True, check=True, timeout=500
    )
    (answer,) = [line for line in done.stdout.splitlines() if line.startswith("ANSWER")]
    return list(zip(words, json.loads(answer.removeprefix("ANSWER")), strict=True))


def mine(words, options):
    """Field → value, None where the launch would be refused."""
    launch = read_command([sys.executable, "-m", "sglang.launch_server", *words], options)
    if REFUSED & {note.kind for note in launch.notes} or any(flag.name is None for flag in launch.flags):
        return None
    known = {option.name: option for option in options}
    found = {flag.name: typed(flag, known[flag.name]) for flag in launch.flags}
    if not all(value.known for value in found.values()):
        return None
    return {name: value.value for name, value in found.items()}


def test_the_engine_s_parser_reads_the_same(cases, options):
    differ = [(words, engine, mine(words, options)) for words, engine in cases]
    differ = [case for case in differ if json.dumps(case[1], sort_keys=True) != json.dumps(case[2], sort_keys=True)]
    assert differ == [], "\n".join(map(str, differ[:20]))
    assert sum(engine is not None for _, engine in cases) > CASES // 4
