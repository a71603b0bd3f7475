"""The entry of `doctor`: finds the verb, runs it, turns errors into one message and the promised exit status.

Constraint to preserve: building the parser imports none of torch, sglang, rich or yaml (`doctor --help` in 0.2 s).
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Sequence

from ddtree_doctor import __version__
from ddtree_doctor.cli.subject import split_command
from ddtree_doctor.errors import DoctorError

__all__ = ["main", "parser", "run"]

VERBS = ("check", "replay", "bisect", "matrix", "sweep", "triage", "explain", "rules", "env")
TAKE_COMMAND = ("check", "replay", "bisect")
NO_VERDICT = 3
DEBUG = "DDTREE_DOCTOR_DEBUG"


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    root = argparse.ArgumentParser(
        prog="doctor",
        description="Verdict on a speculative-decoding launch of SGLang before it costs GPU time.",
        epilog="Exit status: 0 ready, 1 a blocking finding or a required check that is unknown, 2 usage, 3 no verdict.",
    )
    root.add_argument("--version", action="version", version=f"ddtree-doctor {__version__}")
    verbs = root.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in VERBS:
        importlib.import_module(f"ddtree_doctor.cli.{verb}").register(verbs)
    return root


def main(arguments: Sequence[str]) -> int:
    """Run the command line `arguments` (without the program's name) and return the exit status."""
    words, command = split_command(arguments)
    root = parser()
    options = root.parse_args(words)
    options.command = command
    if command is not None and options.verb not in TAKE_COMMAND:
        root.error(f"{options.verb} takes no command after --")
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except DoctorError as refused:
        print(f"doctor: {refused}", file=sys.stderr)
        return refused.exit_status
    except KeyboardInterrupt:
        print("doctor: interrupted; no verdict", file=sys.stderr)
        return NO_VERDICT
    except BrokenPipeError:
        # The reader of our output went away; nothing more can be said, and Python must not try at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NO_VERDICT
    except Exception as fault:
        if os.environ.get(DEBUG):
            traceback.print_exc()
        print(
            f"doctor: internal fault, no verdict: {type(fault).__name__}: {fault} (set {DEBUG}=1 for the traceback)",
            file=sys.stderr,
        )
        return NO_VERDICT
    return status


def run() -> None:
    """The console script."""
    sys.exit(main(sys.argv[1:]))
