"""`doctor triage`: what broke, the evidence, the fix."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ddtree_doctor.cli.output import add_color, console, write
from ddtree_doctor.errors import UsageError

if TYPE_CHECKING:
    from ddtree_doctor.triage import TriageReport

__all__ = ["register", "run"]


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "triage",
        help="explain a crash log",
        description="Read logs of one deployment (plain, gzip or zstd; all ranks at once) and say what broke.",
        epilog="Exit status: 0 no fault found, 1 fault found, 2 usage, 3 no verdict.",
    )
    parser.add_argument("log", nargs="+", metavar="LOG", help="a log file, or - for standard input")
    parser.add_argument("--json", metavar="FILE", help="write the report as json (- for standard output)")
    parser.add_argument("--markdown", metavar="FILE", help="write the report as markdown for an issue tracker")
    parser.add_argument("--bundle", metavar="OUT", help="write report, redacted excerpts and facts as OUT (.tar.gz)")
    add_color(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, report, and return the report's exit status."""
    outputs = {name: path for name in ("json", "markdown", "bundle") if (path := getattr(options, name))}
    to_stdout = [name for name, path in outputs.items() if path == "-"]
    if len(to_stdout) > 1:
        raise UsageError(f"standard output: --{' and --'.join(to_stdout)} both want it; give all but one a file")
    from ddtree_doctor.triage import to_json, to_markdown, triage

    report = triage(options.log)
    if "json" in outputs:
        write(to_json(report), outputs["json"])
    if "markdown" in outputs:
        write(to_markdown(report), outputs["markdown"])
    if "bundle" in outputs:
        from ddtree_doctor.triage.bundle import bundle

        write(bundle(report), outputs["bundle"])
    if not to_stdout:
        _print(report, options)
    return report.exit_code


def _print(report: TriageReport, options: argparse.Namespace) -> None:
    from rich.text import Text

    from ddtree_doctor.triage.as_text import HEADING, to_text

    terminal = console(options)
    for line in to_text(report):
        terminal.print(Text(line, style="bold" if line.startswith(HEADING) else ""), soft_wrap=True)
