"""`doctor bisect`: a failing launch narrowed to its smallest failing case, and a file that shows it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ddtree_doctor.cli.output import write
from ddtree_doctor.cli.subject import add_subject, add_timeout, read_subject
from ddtree_doctor.errors import DoctorError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ddtree_doctor.facts.model import Facts
    from ddtree_doctor.reduction.search import Reduced, Search

__all__ = ["register"]

DEADLINE_S = 600.0
CHECK = """\
--check CMD is run by the shell for each case, with the file that shows the case as last argument, in place of the
doctor's rules. Exit status 0: the case is good; 1 to 124: bad; 125: it cannot be told, leave this case out; anything
else ends the search. `--check python` judges by the file alone.

Rules about scenarios are reduced (DD301, DD302, DD306, DD307, DD308), for verify passes on the CPU. What a change
between two replays shows, what a worker keeps and what only a GPU shows (DD303 to DD305, DD4xx) is seen by
`doctor replay`.

Exit status: 1 a fault was found and reduced, 0 nothing fails, 2 usage, 3 no verdict."""


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "bisect",
        help="the smallest failing case of a launch, as a file that shows it without the doctor",
        usage="doctor bisect [options] (LAUNCH | -- COMMAND …)",
        epilog=CHECK,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_subject(parser)
    parser.add_argument("--out", metavar="FILE", help="the file to write (default: ddtree-bisect-CODE.py here)")
    parser.add_argument("--force", action="store_true", help="write over a file that is there")
    parser.add_argument("--code", metavar="CODE", default="", help="the rule to reduce (default: the first that fires)")
    parser.add_argument("--scenarios", metavar="NAME,…", default="", help="only scenarios whose names begin so: tree/")
    parser.add_argument("--check", metavar="CMD", default="", help="a command that says whether a case fails")
    parser.add_argument("--mutant", metavar="NAME", default="", help="plant a known fault first (fixtures/mutants)")
    add_timeout(parser, DEADLINE_S)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Narrow, write and report: 1 where something fails, 0 where nothing does."""
    if options.out:
        _demand_place(Path(options.out), options.force)
    search = _search(options)
    found = search.run()
    if not found.found.scenarios:
        print(f"nothing fails in {found.found.before} scenarios{_others(found)}; no file was written")
        return 0
    file = Path(options.out or f"ddtree-bisect-{found.found.code or options.code or 'check'}.py")
    _demand_place(file, options.force)
    write(found.text, str(file))
    print("\n".join(_report(search, found, file)))
    if not options.check and not search.confirm(file):
        raise DoctorError(f"{file}: was written and does not fail when it is run by itself; please report this")
    print(f"run by itself it exits 1: python {file}{_patched(search)}")
    return 1


def _search(options: argparse.Namespace) -> Search:
    """What the options ask for. Raises UsageError for more than one launch, a rule that is none, another engine."""
    from ddtree_doctor.cli.subject import installed_root
    from ddtree_doctor.contract.build import build
    from ddtree_doctor.reduction.record import CODES
    from ddtree_doctor.reduction.search import Search
    from ddtree_doctor.rule import Case

    if options.code and options.code not in CODES:
        raise UsageError(f"--code {options.code}: is none of {', '.join(sorted(CODES))}, which can be reduced")
    facts = _one(read_subject(options))
    if facts.engine.root is None or facts.engine.root != installed_root():
        raise UsageError("bisect: runs the installed SGLang, and that is not the engine asked for; leave --sglang out")
    name = Path(options.out).name if options.out else f"ddtree-bisect-{options.code or 'CODE'}.py"
    return Search(
        case=Case(facts=facts, contract=build(facts)),
        plugin=options.plugin or "",
        mutant=options.mutant,
        code=options.code,
        only=tuple(filter(None, options.scenarios.split(","))),
        check=options.check,
        name=name,
        deadline=options.timeout,
    )


def _one(facts: tuple[Facts, ...]) -> Facts:
    if len(facts) != 1:
        raise UsageError(f"launch: {len(facts)} launches were given; bisect narrows one, give it after --")
    return facts[0]


def _demand_place(file: Path, force: bool) -> None:
    """Raise UsageError, before any engine starts, where the file cannot be written or would replace another."""
    if str(file) == "-" or file.is_dir() or not file.parent.is_dir():
        raise UsageError(f"--out {file}: is no place for a file; name one in a folder that is there")
    if file.exists() and not force:
        raise UsageError(f"--out {file}: is there already; give another name, or --force to write over it")


def _others(found: Reduced) -> str:
    fired = sorted(found.found.fired)
    return f", though {', '.join(fired)} fire (--code)" if fired else ""


def _patched(search: Search) -> str:
    return " --apply MUTANT, the mutant's file" if search.mutant else ""


def _report(search: Search, found: Reduced, file: Path) -> Iterator[str]:
    from ddtree_doctor.reduction.scenarios import size
    from ddtree_doctor.reduction.verdict import named

    scenarios, requests, nodes, tokens = size(found.scenarios)
    one = found.found
    yield f"{named(one.code)}: {one.fired[one.code]}" if one.code else f"fails by {search.check!r}"
    if others := sorted(set(one.fired) - {one.code}):
        yield f"  also fire       {', '.join(others)} (--code)"
    names = ", ".join(each.name for each in found.scenarios)
    batches = sum(len(each.batches) for each in found.scenarios)
    yield f"  smallest case   {scenarios} of {one.before} scenarios ({names}), found in {one.tests} runs"
    left = {"batches": batches, "requests": requests, "drafted nodes": nodes, "committed tokens": tokens}
    yield "  left in it      " + ", ".join(f"{name}: {count}" for name, count in left.items())
    for axis in found.axes:
        yield f"  {axis.name:<15} {axis.verdict}"
    yield f"  written         {file} ({found.text.count(chr(10))} lines)"
