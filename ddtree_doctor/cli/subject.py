"""What a verb is asked about: the launches of the command line with host, engine and model configs read once."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ddtree_doctor.errors import UsageError

if TYPE_CHECKING:
    from ddtree_doctor.facts.model import Engine, Facts
    from ddtree_doctor.launch.model import Launch

__all__ = [
    "add_engine",
    "add_subject",
    "add_timeout",
    "installed_root",
    "read_engine_of",
    "read_subject",
    "split_command",
]


def add_subject(parser: argparse.ArgumentParser) -> None:
    """LAUNCH or `-- COMMAND …`, the machine judged for, and the models' configs."""
    parser.add_argument(
        "launch", nargs="?", metavar="LAUNCH", help="file with the launch command, - for standard input"
    )
    parser.add_argument(
        "--gpu", metavar="SPEC", help="judge for these GPUs instead of this machine's: sm_120x8, B300x8"
    )
    parser.add_argument("--target-config", metavar="FILE", help="config.json of the target model")
    parser.add_argument("--draft-config", metavar="FILE", help="config.json of the draft model")
    add_engine(parser)


def add_engine(parser: argparse.ArgumentParser) -> None:
    """The engine judged, and the plugin that adds an algorithm to it."""
    parser.add_argument(
        "--plugin", metavar="NAME", help="add an algorithm to SGLang through its plugin mechanism: ddtree"
    )
    parser.add_argument(
        "--sglang", metavar="DIR|RELEASE", help="judge against this source tree, or a release the doctor knows: 0.5.23"
    )


def add_timeout(parser: argparse.ArgumentParser, default: float) -> None:
    """`--timeout S`, seconds above 0 that one probe may take."""
    parser.add_argument("--timeout", type=_seconds, default=default, metavar="S", help="seconds that a probe may take")


def _seconds(text: str) -> float:
    seconds = float(text)
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"{text} is no time to wait; give seconds above 0")
    return seconds


def split_command(arguments: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """The doctor's own arguments, and the words after the first `--` (None where there is none)."""
    words = list(arguments)
    if "--" not in words:
        return words, None
    at = words.index("--")
    return words[:at], words[at + 1 :]


def read_engine_of(options: argparse.Namespace) -> Engine:
    """The engine's facts: read from its source, or brought along where that is asked for or no SGLang is installed.

    Raises UsageError for an unknown plugin or a folder without SGLang.
    """
    from ddtree_doctor.engine.source.read import read_engine, with_plugins
    from ddtree_doctor.facts.shipped import shipped_engine, shipped_releases

    plugins = (options.plugin,) if options.plugin else ()
    if options.sglang in shipped_releases():
        return with_plugins(shipped_engine(options.sglang), plugins)
    engine = read_engine(Path(options.sglang) if options.sglang else None, plugins)
    return with_plugins(shipped_engine(shipped_releases()[0]), plugins) if engine.root is None else engine


def installed_root() -> str | None:
    """Where the SGLang lies that this interpreter would import, None where there is none."""
    from ddtree_doctor.engine.source.locate import locate

    package = locate(None)
    return None if package is None else str(package)


def read_subject(options: argparse.Namespace) -> tuple[Facts, ...]:
    """One Facts for each launch. Raises UsageError where nothing usable was given."""
    from ddtree_doctor.facts.host import read_host
    from ddtree_doctor.facts.read import read_facts

    engine = read_engine_of(options)
    launches = _launches(options, engine)
    host = read_host(options.gpu)
    configs = {"target_config": options.target_config, "draft_config": options.draft_config}
    return tuple(read_facts(launch, host, engine, **configs) for launch in launches)


def _launches(options: argparse.Namespace, engine: Engine) -> tuple[Launch, ...]:
    from ddtree_doctor.launch import read_command, read_file

    if options.command is not None and options.launch is not None:
        raise UsageError(f"launch: both the file {options.launch!r} and a command after -- were given; give one")
    if options.command is not None:
        return (read_command(options.command, engine.options),)
    if options.launch is None:
        raise UsageError("launch: nothing was given; name a file, - for standard input, or put the command after --")
    return read_file(options.launch, engine.options)
