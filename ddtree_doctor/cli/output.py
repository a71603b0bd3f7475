"""Where a report goes: `-` is standard output, a path is written whole or not at all."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddtree_doctor.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "FORMAT_NAMES",
    "add_color",
    "add_formats",
    "console",
    "deliver",
    "deliver_formats",
    "require_one_stdout",
    "write",
]

FORMAT_NAMES = ("json", "junit", "sarif", "markdown", "github")


def add_formats(parser: argparse.ArgumentParser) -> None:
    """`--json`, `--junit`, `--sarif`, `--markdown`, `--github`, each with a file or `-`, and `--color`."""
    group = parser.add_argument_group("output (FILE or - for standard output)")
    for name in FORMAT_NAMES:
        group.add_argument(f"--{name}", metavar="FILE", help=f"write the report as {name}")
    add_color(parser)


def add_color(parser: argparse.ArgumentParser) -> None:
    """`--color auto|always|never`."""
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colour on the terminal")


def require_one_stdout(options: argparse.Namespace) -> bool:
    """Whether a format goes to standard output. Raises UsageError if two do."""
    to_stdout = [name for name in FORMAT_NAMES if getattr(options, name, None) == "-"]
    if len(to_stdout) > 1:
        raise UsageError(f"standard output: --{' and --'.join(to_stdout)} both want it; give all but one a file")
    return bool(to_stdout)


def deliver(report: Mapping[str, Any], options: argparse.Namespace) -> None:
    """Write every format asked for; print for a person unless a format took standard output."""
    deliver_formats(report, options)
    if not require_one_stdout(options):
        from ddtree_doctor.report.console import print_report

        print_report(report, console(options), verbose=getattr(options, "verbose", False))


def deliver_formats(report: Mapping[str, Any], options: argparse.Namespace) -> None:
    """Write every format asked for. Raises UsageError where a path cannot be written."""
    wanted = {name: path for name in FORMAT_NAMES if (path := getattr(options, name))}
    if wanted:
        from ddtree_doctor.report.formats import FORMATS

        for name, path in wanted.items():
            write(FORMATS[name](report), path)


def console(options: argparse.Namespace) -> Console:
    """A rich console on standard output as `--color` asks."""
    from rich.console import Console

    class Terminal(Console):
        """rich would end the program with status 1, which means something else here; `main` knows what to do."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    force = {"auto": None, "always": True, "never": False}[options.color]
    return Terminal(force_terminal=force, no_color=True if force is False else None, highlight=False, soft_wrap=False)


def write(text: str | bytes, path: str) -> None:
    """Write `text` (or bytes) to `path` (`-`: standard output), replacing a file only once the new one is complete.

    Raises UsageError where the path cannot be written.
    """
    data = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
    if path == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            # A device or pipe (/dev/null, /dev/stderr) is written to, never replaced.
            target.write_bytes(data)
            return
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.chmod(temporary, 0o644)
            os.replace(temporary, target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as refused:
        raise UsageError(f"output {path}: cannot be written: {refused.strerror}; give another path") from refused
