"""Finds SGLang's command line inside a command, under whatever it is wrapped in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ddtree_doctor.launch.command import Entry, Script
from ddtree_doctor.launch.docker import container, is_docker, split_assignment
from ddtree_doctor.launch.scope import Scalar
from ddtree_doctor.launch.words import Field

__all__ = ["MENTION", "unwrap"]

MENTION = re.compile(r"sglang[./]launch_server|sglang\s+serve|launch_server\.py|sglang\.cli")
"""Text that may be a launch of SGLang."""

MODULE = "sglang.launch_server"
CLI_MODULES = frozenset({"sglang", "sglang.cli", "sglang.cli.main"})

NOT_RUN = frozenset(
    (
        "echo",
        "printf",
        "pkill",
        "pgrep",
        "kill",
        "killall",
        "grep",
        "egrep",
        "rg",
        "ps",
        "cat",
        "man",
        "which",
        "whereis",
        "type",
        "test",
        "[",
        "[[",
        "true",
        ":",
        "pip",
        "pip3",
        "conda",
        "mamba",
        "apt",
        "apt-get",
        "git",
        "curl",
        "wget",
        "sed",
        "awk",
        "alias",
        "trap",
        "cd",
        "logger",
        "read",
    )
)
"""Commands whose words are not run."""

SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ash", "ksh"})
STRING_RUNNERS = frozenset(
    (
        "ssh",
        "su",
        "runuser",
        "tmux",
        "screen",
        "sbatch",
        "script",
        "watch",
        "parallel",
        "xargs",
        "pdsh",
        "clush",
        "flock",
        "gcloud",
        "setpriv",
    )
)
"""Commands that hand one of their words to a shell."""

_PYTHON = re.compile(r"(?:python|pypy)[0-9.]*|torchrun")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_TAKE_VARIABLE = frozenset({"env", "sudo", "-e", "-x", "--env", "-genv", "-E", "-i", "--export"})
_EXPORT = re.compile(r"(?:--export|--env)=(.*)", re.DOTALL)
MAX_DEPTH = 8


def unwrap(fields: Sequence[Field], environment: Mapping[str, Scalar], depth: int = 0) -> Entry | Script | None:
    """What of SGLang a command starts: its command line, a script for another shell that may, or None.

    `environment` is what the command receives. Whatever precedes is a wrapper (nohup, numactl, srun, torchrun, …): its
    own options do not matter, the variables that it sets do.
    """
    if not fields or _base(fields[0]) in NOT_RUN or depth > MAX_DEPTH:
        return None
    inside = dict(environment)
    taking = False
    for at in range(len(fields)):
        if found := _entry(fields, at, inside):
            return found
        if is_docker(fields, at):
            contained, command = container(fields, at, inside)
            return unwrap(command, contained, depth + 1)
        if script := _script(fields, at, inside):
            return script
        taking = _variables(fields[at], taking, inside)
    return None


def _base(one: Field) -> str:
    return one.text.rsplit("/", 1)[-1]


def _entry(fields: Sequence[Field], at: int, environment: Mapping[str, Scalar]) -> Entry | None:
    texts = [one.text for one in fields[at : at + 3]]
    if texts[0] == "-m" and texts[1:2] == [MODULE]:
        return _made(MODULE, fields, at, at + 2, environment)
    if texts[0].endswith("sglang/launch_server.py") or texts[0] == "launch_server.py":
        return _made(MODULE, fields, at, at + 1, environment)
    if texts[0] == "-m" and len(texts) == 3 and texts[1] in CLI_MODULES and texts[2] == "serve":
        return _made("sglang serve", fields, at, at + 3, environment)
    if texts[0].rsplit("/", 1)[-1] == "sglang" and texts[1:2] == ["serve"]:
        return _made("sglang serve", fields, at, at + 2, environment)
    return None


def _made(name: str, fields: Sequence[Field], at: int, arguments: int, environment: Mapping[str, Scalar]) -> Entry:
    first = at
    if not _base(fields[at]).startswith("sglang"):
        first = next((index for index in range(at, -1, -1) if _PYTHON.fullmatch(_base(fields[index]))), at)
    return Entry(
        name=name,
        words=tuple(fields[first:arguments]),
        arguments=tuple(fields[arguments:]),
        environment=dict(environment),
    )


def _script(fields: Sequence[Field], at: int, environment: Mapping[str, Scalar]) -> Script | None:
    base = _base(fields[at])
    if base in SHELLS:
        return _shell(fields, at + 1, environment)
    if base in STRING_RUNNERS:
        return _string(fields, at + 1)
    return None


def _shell(fields: Sequence[Field], at: int, environment: Mapping[str, Scalar]) -> Script | None:
    """`bash -lc TEXT NAME ARGUMENTS`."""
    while at < len(fields) and fields[at].text[:1] in ("-", "+"):
        text = fields[at].text
        short = not text.startswith("--")
        at += 2 if (short and text.endswith(("o", "O"))) or text in ("--rcfile", "--init-file") else 1
        if text[0] == "-" and short and "c" in text:
            return _script_at(fields, at, environment)
    return None


def _script_at(fields: Sequence[Field], at: int, environment: Mapping[str, Scalar]) -> Script | None:
    while at < len(fields) and fields[at].text.startswith("-"):
        at += 1
    if at >= len(fields):
        return None
    return Script(text=fields[at], arguments=tuple(fields[at + 2 :]), environment=dict(environment))


def _string(fields: Sequence[Field], at: int) -> Script | None:
    """The word that is itself a command line: `ssh HOST 'cd x && sglang serve …'`."""
    for one in fields[at:]:
        if any(blank in one.text for blank in " \n\t") and MENTION.search(one.text):
            return Script(text=_without_option(one))
    return None


def _without_option(one: Field) -> Field:
    """`TEXT` of `--wrap=TEXT`."""
    name, equals, _ = one.text.partition("=")
    if not equals or not name.startswith("--") or not one.pieces or " " in name:
        return one
    first = one.pieces[0]
    cut = len(name) + 1
    if len(first.text) >= cut:
        return Field.of((first._replace(text=first.text[cut:]), *one.pieces[1:]))
    return one


def _variables(one: Field, taking: bool, environment: dict[str, Scalar]) -> bool:
    """Take up `NAME=value` where a wrapper sets it: `env A=1 B=2`, `-e A=1`, `--export=ALL,A=1`.

    `taking` says that the word before sets variables; returns it for the next word.
    """
    if match := _EXPORT.fullmatch(one.text):
        for text in match.group(1).split(","):
            _take(one.with_text(text), environment)
    elif taking and _ASSIGNMENT.match(one.text):
        _take(one, environment)
        return True
    return _base(one) in _TAKE_VARIABLE


def _take(one: Field, environment: dict[str, Scalar]) -> None:
    if assignment := split_assignment(one):
        environment.update([assignment])
