"""`doctor explain CODE`: what a rule finds, why that breaks, what to do, and where it comes from."""

from __future__ import annotations

import argparse

from ddtree_doctor.cli.output import add_color, console

__all__ = ["register"]


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb."""
    parser = verbs.add_parser("explain", help="explain a rule by its code or name")
    parser.add_argument("code", metavar="CODE", help="DD108, or a rule's name")
    add_color(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the rule's page. Raises UsageError (exit status 2) where no rule is called so."""
    from importlib import import_module

    from ddtree_doctor.errors import UsageError
    from ddtree_doctor.selection import selected

    rules = import_module("ddtree_doctor.checks").rules()
    named = [rule for rule in rules if options.code.lower() in (rule.code.lower(), rule.slug())]
    if not named:
        # A prefix names several rules, which `selected` accepts and this verb does not.
        raise UsageError(f"rule {options.code!r}: names {len(selected(rules, [options.code]))} rules; give one code")
    rule = named[0]
    from rich.padding import Padding
    from rich.text import Text

    out = console(options)
    required = "required before launch" if rule.required else "not required"
    out.print(Text.assemble((f"{rule.code} {rule.slug()}", "bold"), f"  {rule.title()}"))
    out.print(
        Text(f"{rule.severity}, {rule.confidence}; tier {rule.tier}; {required}; since {rule.since}", style="dim")
    )
    for heading, lines in (("why", (rule.why,)), ("fix", rule.fix), ("see", rule.references)):
        for line in lines:
            out.print(Padding(Text.assemble((f"{heading}  ", "bold"), line), (0, 0, 0, 2)))
    return 0
