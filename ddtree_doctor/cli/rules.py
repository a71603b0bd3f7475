"""`doctor rules`: every rule on one line each."""

from __future__ import annotations

import argparse

from ddtree_doctor.cli.output import add_color, console

__all__ = ["register"]


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb."""
    parser = verbs.add_parser("rules", help="list every rule")
    parser.add_argument("--json", metavar="FILE", help="write the list as json (- for standard output)")
    add_color(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the list; always 0."""
    import json
    from importlib import import_module

    rules = import_module("ddtree_doctor.checks").rules()
    if options.json:
        from ddtree_doctor.cli.output import write

        keys = ("code", "severity", "confidence", "tier", "required", "since")
        rows = [
            {"name": rule.slug(), "title": rule.title(), **{key: getattr(rule, key) for key in keys}} for rule in rules
        ]
        write(json.dumps({"schema": "ddtree-doctor/rules/1", "rules": rows}, indent=2) + "\n", options.json)
        return 0
    from rich.table import Table

    table = Table("code", "severity", "tier", "what it finds", box=None, pad_edge=False)
    for rule in rules:
        table.add_row(rule.code, f"{rule.severity} ({rule.confidence})", rule.tier, rule.title())
    console(options).print(table)
    return 0
