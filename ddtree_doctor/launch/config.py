"""The file of `--config FILE.yaml`, turned into words as SGLang turns it.

Source: `ConfigArgumentMerger` in sglang/srt/utils/server_args_config_parser.py: the file's words come before the
command line's own, so that the command line wins; only the two words `--config FILE` are looked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ddtree_doctor.launch.placeholders import why_unknown
from ddtree_doctor.launch.scope import Remark
from ddtree_doctor.launch.table import Table
from ddtree_doctor.launch.words import Field

__all__ = ["Config", "read_config"]

MAX_BYTES = 1024 * 1024
OPTION = "--config"


@dataclass(frozen=True, slots=True)
class Config:
    """A config file's words. `why` says why they are not known; `remark` what is to be said about the file."""

    path: str
    fields: tuple[Field, ...] = ()
    why: str = ""
    remark: Remark | None = None


def read_config(arguments: Sequence[Field], table: Table, base: Path) -> Config | None:
    """The config file that the arguments name, relative to `base`; None where they name none."""
    places = [index for index, one in enumerate(arguments) if one.text == OPTION]
    if not places:
        return _ignored(arguments)
    at = places[0]
    named = arguments[at + 1] if at + 1 < len(arguments) else None
    if len(places) > 1 or named is None:
        text = "--config is given more than once" if named else "--config names no file"
        return _refused("", f"{text}; SGLang refuses it", arguments[at])
    if why := why_unknown(named):
        return _refused(named.text, why, named, kind="config-unread")
    return _read(named, table, base)


def _ignored(arguments: Sequence[Field]) -> Config | None:
    for one in arguments:
        if one.text.startswith(OPTION + "="):
            text = (
                "SGLang reads a config file only from two words, --config FILE; --config=FILE is accepted and ignored"
            )
            return Config(one.text.partition("=")[2], remark=Remark("config-ignored", text, one.line))
    return None


def _refused(path: str, why: str, one: Field, kind: str = "config-invalid") -> Config:
    return Config(path, why=why, remark=Remark(kind, f"--config {path}: {why}".replace(" :", ":"), one.line))


def _read(named: Field, table: Table, base: Path) -> Config:
    path = base / named.text
    if path.suffix.lower() not in (".yaml", ".yml"):
        return _refused(named.text, "SGLang takes a .yaml or .yml file only", named)
    try:
        if not path.is_file():
            return _refused(named.text, "there is no such file here", named, kind="config-missing")
        if path.stat().st_size > MAX_BYTES:
            return _refused(named.text, f"it has more than {MAX_BYTES} bytes", named)
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        return _refused(named.text, f"it cannot be read ({type(error).__name__})", named, kind="config-missing")
    return _parse(data, str(path), named, table)


def _parse(data: bytes, path: str, named: Field, table: Table) -> Config:
    from ddtree_doctor.launch.document import Malformed, mapping_lines

    try:
        members = mapping_lines(data)
        fields = [one for key, value, line in members for one in _words(key, value, line, table)]
    except Malformed as error:
        return _refused(named.text, str(error), named)
    return Config(path, tuple(fields))


def _words(key: str, value: Any, line: int, table: Table) -> Iterator[Field]:
    """The words of one member: switches without a value, lists one word each, objects as JSON."""
    option = table.option(f"--{key}")
    if isinstance(value, bool) and option and option.arity == "0":
        if value:
            yield Field.plain(f"--{key}", line)
        return
    if value == []:
        return
    yield Field.plain(f"--{key}", line)
    for item in value if isinstance(value, list) else [value]:
        yield Field.plain(_text(item), line)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, default=str) if isinstance(value, dict) else str(value)
