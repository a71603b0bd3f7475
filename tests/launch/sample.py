"""A hand-made option table, and short ways to read launches and words."""

import re
import shutil
import subprocess

import pytest

from ddtree_doctor.facts.model import Option
from ddtree_doctor.launch import read
from ddtree_doctor.launch.grammar import parse
from ddtree_doctor.launch.lexer import tokenize
from ddtree_doctor.launch.scope import Budget, Scope
from ddtree_doctor.launch.secrets import Vault
from ddtree_doctor.launch.shell import Shell
from ddtree_doctor.launch.source import Source

OPTIONS = (
    Option(name="model_path", options=("--model-path", "--model")),
    Option(name="tp_size", options=("--tensor-parallel-size", "--tp-size", "--tp"), type="int"),
    Option(name="dp_size", options=("--data-parallel-size", "--dp-size", "--dp"), type="int"),
    Option(name="mem_fraction_static", options=("--mem-fraction-static",), type="float"),
    Option(name="context_length", options=("--context-length",), type="human_readable_int"),
    Option(name="host", options=("--host",)),
    Option(name="port", options=("--port",), type="int"),
    Option(name="trust_remote_code", options=("--trust-remote-code",), type="bool", arity="0"),
    Option(name="enable_overlap", options=("--enable-overlap", "--no-enable-overlap"), type="bool", arity="0"),
    Option(name="cuda_graph_bs_decode", options=("--cuda-graph-bs-decode",), type="int", arity="+"),
    Option(name="cuda_graph_bs_prefill", options=("--cuda-graph-bs-prefill",), type="int", arity="+"),
    Option(name="lora_paths", options=("--lora-paths",), arity="*"),
    Option(name="model_checksum", options=("--model-checksum",), arity="?"),
    Option(name="json_model_override_args", options=("--json-model-override-args",), type="json.loads"),
    Option(name="speculative_algorithm", options=("--speculative-algorithm", "--speculative-algo")),
    Option(name="speculative_num_steps", options=("--speculative-num-steps",), type="int"),
    Option(name="speculative_num_draft_tokens", options=("--speculative-num-draft-tokens",), type="int"),
    Option(name="attention_backend", options=("--attention-backend",), choices=("fa3", "triton")),
    Option(name="disaggregation_mode", options=("--disaggregation-mode",)),
    Option(name="served_model_name", options=("--served-model-name",)),
    Option(name="api_key", options=("--api-key",)),
    Option(name="admin_api_key", options=("--admin-api-key",)),
)

SERVER = "python3 -m sglang.launch_server"

BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="no bash here to compare with")


def launches(text, file=None):
    """The launches in a text."""
    return read(text.encode(), OPTIONS, file)


def launch(text, file=None):
    """The only launch in a text."""
    (only,) = launches(text, file)
    return only


def flags(launch):
    """(option, values) of each flag."""
    return [(flag.option, *flag.values) for flag in launch.flags]


def kinds(launch):
    """The kinds of a launch's notes."""
    return [note.kind for note in launch.notes]


class Recorder(Shell):
    """A shell in which the command `show` records its words."""

    def __init__(self):
        super().__init__(Scope(Budget("script"), Vault(), positional=()), [])
        self.shown = []

    def _run(self, node, fields, environment, remarks, expander):
        if fields[0].text == "show":
            self.shown.append(fields[1:])
            return ""
        return super()._run(node, fields, environment, remarks, expander)


def fields(script):
    """The words that each `show` in a script receives."""
    shell = Recorder()
    shell.follow(parse(tokenize(Source.of_text(script, "script"))))
    return shell.shown


def words(script):
    """The texts of `fields`, None for a `show` of which some word is not known before run time."""
    return [None if any(one.why for one in shown) else [one.text for one in shown] for shown in fields(script)]


def bash_words(script, folder):
    """What each `show` receives in the real bash, or None where it refuses the script."""
    prelude = 'show() { printf "%s\\0" "$#" "$@"; }\n'
    done = subprocess.run(
        [BASH, "-c", prelude + script],
        capture_output=True,
        cwd=folder,
        env={"PATH": "/nonexistent", "LC_ALL": "C.UTF-8"},
        timeout=20,
        check=False,
    )
    if re.search(rb"syntax error|unexpected EOF|bad substitution|unterminated", done.stderr):
        return None
    found, parts = [], done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]
    while parts:
        count = int(parts[0])
        found.append(parts[1 : 1 + count])
        parts = parts[1 + count :]
    return found
