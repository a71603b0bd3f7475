"""`doctor check`: the verdict on a launch."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ddtree_doctor.cli.output import add_formats, deliver, require_one_stdout, write
from ddtree_doctor.cli.subject import add_subject, add_timeout, installed_root, read_subject
from ddtree_doctor.errors import UsageError
from ddtree_doctor.tiers import TIERS

if TYPE_CHECKING:
    from ddtree_doctor.examination import Plan
    from ddtree_doctor.facts.bundle import Bundle

__all__ = ["register"]

DEADLINE_S = 600.0


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "check", help="verdict on one launch", usage="doctor check [options] (LAUNCH | -- COMMAND …)"
    )
    add_subject(parser)
    parser.add_argument(
        "--tier", choices=TIERS, help="how deep to look (default: the deepest that this machine can run)"
    )
    parser.add_argument("--select", metavar="CODES", default="", help="only these rules: DD108,DD2")
    parser.add_argument("--ignore", metavar="CODES", default="", help="not these rules")
    add_timeout(parser, DEADLINE_S)
    parser.add_argument("--facts", metavar="FILE", help="judge a saved bundle again instead of reading this machine")
    parser.add_argument("--facts-out", metavar="FILE", help="save facts and ledgers, to judge again elsewhere")
    parser.add_argument("--verbose", "-v", action="store_true", help="also list every check with its reason")
    add_formats(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Judge and report; the exit status is the report's `exit_code`."""
    require_one_stdout(options)
    plan, bundle = _again(options) if options.facts else _fresh(options)
    if options.facts_out:
        write(bundle.to_json(), options.facts_out)
    from ddtree_doctor.examination import judged
    from ddtree_doctor.report.document import document

    # The bundle is judged, not what it was made from: then judging it again elsewhere finds the same, byte for byte.
    report = document(judged(bundle.cases(), plan), tier=plan.tier, facts_digest=bundle.digest())
    deliver(report, options)
    status: int = report["exit_code"]
    return status


def _fresh(options: argparse.Namespace) -> tuple[Plan, Bundle]:
    """Facts of this machine, with ledgers where the plan goes so deep."""
    facts = read_subject(options)
    from ddtree_doctor.examination import Plan, deepest, probed
    from ddtree_doctor.facts.bundle import bundle_of

    tier = options.tier or deepest(facts[0], installed_root())
    plan = Plan(tier=tier, plugin=options.plugin, deadline=options.timeout, **_codes(options))
    return plan, bundle_of(probed(facts, plan), tier=plan.tier)


def _again(options: argparse.Namespace) -> tuple[Plan, Bundle]:
    """Facts and ledgers of a bundle; nothing is read from this machine."""
    from ddtree_doctor.examination import Plan
    from ddtree_doctor.facts.bundle import read_bundle_file

    if options.launch is not None or options.command is not None:
        raise UsageError("--facts: the bundle holds its launches; give no other")
    bundle = read_bundle_file(options.facts)
    return Plan(tier=options.tier or bundle.tier, **_codes(options)), bundle


def _codes(options: argparse.Namespace) -> dict[str, Any]:
    return {name: tuple(filter(None, getattr(options, name).split(","))) for name in ("select", "ignore")}
