"""`doctor replay`: a launch's verify passes on this machine."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ddtree_doctor.cli.output import FORMAT_NAMES, add_formats, deliver, require_one_stdout, write
from ddtree_doctor.cli.subject import add_subject, add_timeout, read_subject
from ddtree_doctor.cli.sweep import numbers
from ddtree_doctor.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddtree_doctor.facts.model import Host
    from ddtree_doctor.rehearsal import Rehearsal
    from ddtree_doctor.rule import Case

__all__ = ["register"]

DEADLINE_S = 600.0
BACKENDS = ("triton", "flashinfer", "fa3", "fa4", "trtllm_mha")


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "replay",
        help="verify passes of a launch on this machine",
        usage="doctor replay [options] (LAUNCH | -- COMMAND …)",
    )
    add_subject(parser)
    parser.add_argument("--host", choices=("cpu", "gpu"), help="where (default: the GPU where there is one)")
    parser.add_argument(
        "--engine",
        action="store_true",
        help="also run the whole sglang.Engine: are its greedy answers the same with speculation and without?",
    )
    group = parser.add_argument_group("on a GPU (each combination is a process of its own)")
    group.add_argument(
        "--backends", metavar="NAME,…", default="", help="attention backends, all for every one (default: the launch's)"
    )
    group.add_argument("--page-size", metavar="N,…", default="", help="page sizes (default: the launch's)")
    group.add_argument("--budget", metavar="N,…", default="", help="nodes without the root (default: the launch's)")
    group.add_argument(
        "--sanitizer",
        action="store_true",
        help="also run one scenario under compute-sanitizer's memcheck, initcheck and racecheck",
    )
    group.add_argument("--jobs", type=int, metavar="N", help="probes side by side (default: half the cores, at most 8)")
    group.add_argument("--record", metavar="FILE", help="add what was measured to an architecture ledger")
    add_timeout(parser, DEADLINE_S)
    parser.add_argument("--verbose", "-v", action="store_true", help="also list every check with its reason")
    add_formats(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Replay, judge and report; the exit status is the report's `exit_code`."""
    require_one_stdout(options)
    if options.jobs is not None and options.jobs < 1:
        raise UsageError(f"--jobs: {options.jobs} probes side by side run nothing; give 1 or more")
    from ddtree_doctor.facts.host import read_host

    host = read_host(None)
    plan = _plan(options, host)
    cases = _replayed(options, plan)
    if options.record:
        _record(options.record, cases, host)
    return _report(options, plan, cases)


def _plan(options: argparse.Namespace, host: Host) -> Rehearsal:
    """What the options ask for. Raises UsageError where this machine cannot do it."""
    from ddtree_doctor.rehearsal import Rehearsal
    from ddtree_doctor.replay.sanitizer import TOOLS

    where = options.host or ("gpu" if host.gpus else "cpu")
    only_gpu = [name for name in ("backends", "page_size", "budget", "sanitizer", "record") if getattr(options, name)]
    if where == "gpu" and not host.gpus:
        raise UsageError(f"--host gpu: no GPU here ({host.unknown.get('gpus', 'none was seen')}); use --host cpu")
    if where == "cpu" and only_gpu:
        raise UsageError(f"--{only_gpu[0].replace('_', '-')}: needs a GPU; leave it out, or replay on a GPU host")
    return Rehearsal(
        host=where,
        plugin=options.plugin,
        backends=BACKENDS if options.backends == "all" else _named("--backends", options.backends, BACKENDS),
        pages=numbers("--page-size", options.page_size) if options.page_size else (),
        budgets=numbers("--budget", options.budget) if options.budget else (),
        tools=TOOLS if options.sanitizer else (),
        engine=options.engine,
        jobs=options.jobs,
        deadline=options.timeout,
    )


def _named(option: str, text: str, known: Sequence[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    for name in names:
        if name not in known:
            raise UsageError(f"{option} {name}: is none of {', '.join(known)}")
    return names


def _replayed(options: argparse.Namespace, plan: Rehearsal) -> tuple[Case, ...]:
    from ddtree_doctor.rehearsal import rehearsed

    return rehearsed(read_subject(options), plan)


def _record(path: str, cases: Sequence[Case], host: Host) -> None:
    """Add this run to the ledger in `path`. Raises UsageError where that is another architecture's, or no ledger."""
    from ddtree_doctor.rehearsal import measured_run
    from ddtree_doctor.replay.arch import ArchLedger, read_arch

    arch = host.gpus[0].arch
    if arch is None:
        raise UsageError("--record: the driver does not tell this GPU's architecture")
    before = ArchLedger(arch=arch)
    if Path(path).is_file():
        try:
            before = read_arch(Path(path).read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            raise UsageError(f"--record {path}: cannot be added to: {error}; give another file") from error
    if before.arch != arch:
        raise UsageError(f"--record {path}: holds what was measured on {before.arch}, this GPU is {arch}")
    write(before.with_run(measured_run(cases, host, _command(f"{arch}.json"))).to_json(), path)


def _command(record: str) -> str:
    """The command line as anybody would give it again: without where its other outputs went on this machine."""
    words = iter(["doctor", *sys.argv[1:]])
    outputs = {f"--{name}" for name in FORMAT_NAMES}
    kept: list[str] = []
    for word in words:
        if word == "--record":
            kept += [word, record]
        elif word not in outputs:
            kept.append(word)
            continue
        next(words, None)
    return " ".join(kept)


def _report(options: argparse.Namespace, plan: Rehearsal, cases: tuple[Case, ...]) -> int:
    from ddtree_doctor.examination import Plan, judged
    from ddtree_doctor.facts.bundle import bundle_of
    from ddtree_doctor.rehearsal import HOSTS
    from ddtree_doctor.report.document import document

    tier, codes = HOSTS[plan.host]
    examined = judged(cases, Plan(tier=tier, plugin=plan.plugin, select=(codes,)))
    report = document(examined, tier=tier, facts_digest=bundle_of(cases, tier=tier).digest())
    deliver(report, options)
    status: int = report["exit_code"]
    return status
