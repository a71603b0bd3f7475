"""`docker run [OPTIONS] IMAGE COMMAND …`: the container's environment and command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ddtree_doctor.launch.scope import Scalar
from ddtree_doctor.launch.words import Field, Piece

__all__ = ["container", "is_docker", "split_assignment"]

PROGRAMS = frozenset({"docker", "docker-compose", "podman", "nerdctl", "nvidia-docker"})
VERBS = frozenset({"run", "exec", "create"})
MAX_BEFORE_VERB = 6

SWITCHES = frozenset(
    (
        "--detach",
        "--disable-content-trust",
        "--help",
        "--init",
        "--interactive",
        "--no-healthcheck",
        "--oom-kill-disable",
        "--privileged",
        "--publish-all",
        "--quiet",
        "--read-only",
        "--replace",
        "--rm",
        "--rmi",
        "--sig-proxy",
        "--tty",
        "--tls-verify",
        "--no-deps",
        "--service-ports",
        "--use-aliases",
        "--build",
        "--no-hosts",
        "--env-host",
        "--http-proxy",
        "--rootfs",
        "--systemd",
        "--passwd",
    )
)
"""Long options that take no value of their own."""

SHORT_WITH_VALUE = frozenset("aceghlmpuvw")
"""Short options that take a value: `-v A:B`, `-vA:B`."""


def is_docker(fields: Sequence[Field], at: int) -> bool:
    """Whether a container is started by the words from `at` on."""
    return fields[at].text.rsplit("/", 1)[-1] in PROGRAMS and _verb(fields, at) is not None


def container(
    fields: Sequence[Field], at: int, host: Mapping[str, Scalar]
) -> tuple[dict[str, Scalar], tuple[Field, ...]]:
    """What runs in the container: its environment and its command, `--entrypoint` first.

    A variable given without a value is the `host`'s; no other variable of the host reaches the container.
    """
    verb = _verb(fields, at)
    index = (at if verb is None else verb) + 1
    environment: dict[str, Scalar] = {}
    entrypoint: tuple[Field, ...] = ()
    while index < len(fields) and _is_option(fields[index].text):
        name, value, index = _option(fields, index)
        if name in ("-e", "--env") and value:
            environment.update(_variable(value, host))
        elif name == "--entrypoint" and value and value.text:
            entrypoint = (value,)
    return environment, (*entrypoint, *fields[index + 1 :])


def split_assignment(one: Field) -> tuple[str, Scalar] | None:
    """`NAME=value` of a field as a variable, None where it is none."""
    name, equals, _ = one.text.partition("=")
    if not equals or not name.isidentifier():
        return None
    return name, _after(one.pieces, len(name) + 1)


def _after(pieces: Sequence[Piece], count: int) -> Scalar:
    """The pieces without their first `count` characters."""
    kept: list[Piece] = []
    for piece in pieces:
        text = piece.text[count:]
        count = max(count - len(piece.text), 0)
        if text:
            kept.append(piece._replace(text=text))
    return tuple(kept)


def _verb(fields: Sequence[Field], at: int) -> int | None:
    """The offset of `run`, `exec` or `create` after the program's own options."""
    ahead = range(at + 1, min(at + 1 + MAX_BEFORE_VERB, len(fields)))
    return next((index for index in ahead if fields[index].text in VERBS), None)


def _is_option(text: str) -> bool:
    return text.startswith("-") and text != "-"


def _option(fields: Sequence[Field], at: int) -> tuple[str, Field | None, int]:
    """An option's name, its value and the offset after both."""
    one = fields[at]
    name, equals, value = one.text.partition("=")
    if name.startswith("--"):
        if equals:
            return name, Field.of(_after(one.pieces, len(name) + 1)) if value else None, at + 1
        return _separate(name, fields, at, takes_value=name not in SWITCHES)
    for index, letter in enumerate(one.text[1:], 2):
        if letter in SHORT_WITH_VALUE:
            if len(one.text) > index:
                return f"-{letter}", Field.of(_after(one.pieces, index)), at + 1
            return _separate(f"-{letter}", fields, at, takes_value=True)
    return one.text, None, at + 1


def _separate(name: str, fields: Sequence[Field], at: int, *, takes_value: bool) -> tuple[str, Field | None, int]:
    if not takes_value or at + 1 >= len(fields):
        return name, None, at + 1
    return name, fields[at + 1], at + 2


def _variable(given: Field, host: Mapping[str, Scalar]) -> dict[str, Scalar]:
    if assignment := split_assignment(given):
        return dict([assignment])
    return {given.text: host[given.text]} if given.text in host else {}
