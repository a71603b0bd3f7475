"""`doctor matrix`: every algorithm × role of the installed SGLang, expected and observed."""

from __future__ import annotations

import argparse

from ddtree_doctor.cli.output import add_formats, console, deliver_formats, require_one_stdout
from ddtree_doctor.cli.subject import add_engine, add_timeout, installed_root, read_engine_of

__all__ = ["register"]


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb."""
    parser = verbs.add_parser("matrix", help="every algorithm × role of the installed SGLang: expected, observed")
    add_engine(parser)
    parser.add_argument(
        "--arch", action="store_true", help="instead: what is measured or reported of each GPU architecture"
    )
    add_timeout(parser, 300.0)
    add_formats(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Start the engine once for each algorithm and report; the exit status is the report's `exit_code`."""
    taken = require_one_stdout(options)
    if options.arch:
        return _by_architecture(options)
    engine = read_engine_of(options)
    from ddtree_doctor.errors import UsageError
    from ddtree_doctor.facts.bundle import bundle_of
    from ddtree_doctor.facts.host import read_host
    from ddtree_doctor.matrix import matrix
    from ddtree_doctor.report.document import document

    if engine.root is None or engine.root != installed_root():
        raise UsageError(
            f"SGLang {engine.version or ''}: is not the one installed here, and the matrix starts the engine's own "
            "workers; install it in this environment"
        )
    examined = matrix(read_host(None), engine, plugin=options.plugin, deadline=options.timeout)
    bundle = bundle_of([one.case for one in examined], tier="shape")
    report = document(examined, tier="shape", facts_digest=bundle.digest())
    deliver_formats(report, options)
    if not taken:
        from ddtree_doctor.report.matrix_table import print_matrix

        print_matrix(report, console(options))
    status: int = report["exit_code"]
    return status


def _by_architecture(options: argparse.Namespace) -> int:
    """What ships with the doctor; starts nothing. Raises UsageError for a format that has no such table."""
    import json

    from ddtree_doctor.arch_matrix import SCHEMA, arch_matrix
    from ddtree_doctor.cli.output import FORMAT_NAMES, write
    from ddtree_doctor.errors import UsageError
    from ddtree_doctor.hazards import of_kind
    from ddtree_doctor.measured import MEASURED
    from ddtree_doctor.report.arch_matrix import print_arch_matrix

    other = [name for name in FORMAT_NAMES if name != "json" and getattr(options, name)]
    if other:
        raise UsageError(f"--{other[0]}: is a report's format, and --arch gives a table; use --json")
    cells = arch_matrix(MEASURED, of_kind("architecture"))
    if options.json:
        write(json.dumps({"schema": SCHEMA, "cells": cells}, indent=2) + "\n", options.json)
    if options.json != "-":
        print_arch_matrix(cells, console(options))
    return 0
