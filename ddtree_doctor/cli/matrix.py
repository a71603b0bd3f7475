"""`doctor matrix`: every algorithm × role of the installed SGLang, expected and observed."""

from __future__ import annotations

import argparse

from ddtree_doctor.cli.output import add_formats, console, deliver_formats, require_one_stdout
from ddtree_doctor.cli.subject import add_engine, installed_root, read_engine_of

__all__ = ["register"]


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb."""
    parser = verbs.add_parser("matrix", help="every algorithm × role of the installed SGLang: expected, observed")
    add_engine(parser)
    parser.add_argument("--timeout", type=float, default=300.0, metavar="S", help="seconds that one probe may take")
    add_formats(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Start the engine once for each algorithm and report; the exit status is the report's `exit_code`."""
    taken = require_one_stdout(options)
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
