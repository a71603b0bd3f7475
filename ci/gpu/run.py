"""Run on a GPU host everything that is claimed of one, and write what was seen.

    python ci/gpu/run.py --out DIR [--jobs N] GROUP…

A group is one or more stages joined by `+`, which run side by side; groups run one after the other, and one that
begins with `&` stays in the background until the end. Stages: see STAGES; `mutants`, `mutants-memcheck`, `engine` and
`engine-planted` take names (`mutants:mask_ignored,positions_rebound`, `engine:ngram`), all that are meant for them if
none. Each is timed and written to DIR/results.json as soon as it ends. DIR/<arch>.json is the architecture ledger that
`doctor replay --record` wrote. What the doctor prints goes to DIR/log.txt. docs/gpu.md says what came out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from engines import said
from planted import SANITIZED_SECONDS, behaviour_mutants, faults, memory_mutants, tally
from seen import judged, summary

from ddtree_doctor.contract.build import build
from ddtree_doctor.engine.source.read import read_engine
from ddtree_doctor.facts.host import read_host
from ddtree_doctor.facts.read import read_facts
from ddtree_doctor.launch import read_command, read_file
from ddtree_doctor.probe.replay_gpu import behave_gpu, cells, sanitize
from ddtree_doctor.rule import Case

ROOT = Path(__file__).resolve().parents[2]
LAUNCHES = Path("ci/gpu/launches")
PLUGINS = {"ddtree": "ddtree"}
PAGES = "1,16,64"
BUDGETS = "8,9,16,17,32,33,64,65"
ODD = "9,17,33,65"
EVEN = "8,16,32,64"
WHOLE = ("ngram", "standalone", "dflash", "ddtree")
PLANTED = ("accepted_slots_taken_as_first",)


@dataclass(slots=True)
class Here:
    """Where results go, how many probes run at a time, and the case of a launch on this machine."""

    out: Path
    jobs: int
    results: dict[str, Any] = field(default_factory=dict)
    writing: Lock = field(default_factory=Lock)

    def case(self, launch: str, plugin: str = "") -> Case:
        """The facts and contract of a launch: a file of LAUNCHES by name, or a command line."""
        engine = read_engine(plugins=(plugin,) if plugin else ())
        file = ROOT / LAUNCHES / f"{launch}.sh"
        read = (
            read_command(launch.split(), engine.options) if " " in launch else read_file(str(file), engine.options)[0]
        )
        facts = read_facts(read, read_host(None), engine)
        return Case(facts=facts, contract=build(facts))

    def doctor(self, *words: str) -> dict[str, Any]:
        """Run the command line from the repository's root; its exit status, seconds and what matters of its report."""
        report = self.out / f"report-{len(self.results)}-{time.monotonic_ns()}.tmp"
        began = time.monotonic()
        done = subprocess.run(
            ["doctor", *words, "--json", str(report)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        seconds = round(time.monotonic() - began, 1)
        command = " ".join(("doctor", *words))
        found = json.loads(report.read_text()) if report.exists() else {}
        report.unlink(missing_ok=True)
        with self.writing, (self.out / "log.txt").open("a") as file:
            file.write(f"\n$ {command}\n{done.stdout[-100000:]}\n")
        return {
            "command": command,
            "exit": done.returncode,
            "seconds": seconds,
            "verdict": found.get("verdict"),
            "counts": found.get("counts"),
            "findings": [f"{one['code']} {one['subject']}: {one['message']}" for one in found.get("findings", ())],
        }

    def note(self, name: str, began: float, found: Any) -> None:
        """Keep a stage's result, and write all there are."""
        with self.writing:
            self.results[name] = {"stage_seconds": round(time.monotonic() - began, 1), "found": found}
            (self.out / "results.json").write_text(json.dumps(self.results, indent=1))
        print(f"{name}: {self.results[name]['stage_seconds']} s", flush=True)


def environment(here: Here) -> Any:
    """What the machine is."""
    host = read_host(None)
    return {
        "driver": host.driver,
        "gpus": [asdict(gpu) for gpu in host.gpus],
        "python": host.python,
        "packages": {name: package.version for name, package in host.packages.items()},
        "cores": os.cpu_count(),
    }


def warm(here: Here) -> Any:
    """One cell alone: on a fresh host, what compiling kernels for the first time costs."""
    case = here.case("ngram")
    return [summary(one) for one in behave_gpu(case.facts.launch, case.settings)]


def suite(name: str, *words: str) -> Callable[[Here], Any]:
    """A stage that runs `doctor replay` for one launch over what `words` ask for, and records it."""

    def stage(here: Here) -> Any:
        plugin = ("--plugin", PLUGINS[name]) if name in PLUGINS else ()
        arch = here.out / f"{read_host(None).gpus[0].arch}.json"
        mine = here.out / f"{name}-{time.monotonic_ns()}.arch"
        if arch.exists():
            mine.write_text(arch.read_text())
        launch = str(LAUNCHES / f"{name}.sh")
        seen = here.doctor("replay", launch, *plugin, *words, "--jobs", str(here.jobs), "--record", str(mine))
        with here.writing:
            _merge(mine, arch)
        return seen

    return stage


def _merge(mine: Path, arch: Path) -> None:
    """Add the newest run of one ledger to another; stages side by side have a ledger each."""
    from ddtree_doctor.replay.arch import read_arch

    if mine.exists():
        new = read_arch(mine.read_text())
        before = read_arch(arch.read_text()) if arch.exists() else None
        arch.write_text((before.with_run(new.runs[0]) if before else new).to_json())
        mine.unlink()


def sanitized(tool: str, mutant: str = "") -> Callable[[Here], Any]:
    """A stage that runs the DDTREE launch, clean or under a mutant, under one tool of compute-sanitizer."""

    def stage(here: Here) -> Any:
        case = here.case("ddtree", "ddtree")
        options: dict[str, Any] = {"plugin": "ddtree", "deadline": SANITIZED_SECONDS, "mutant": mutant or None}
        (seen,) = sanitize(case.facts.launch, case.settings, (tool,), **options)
        return summary(seen) | {"judged": judged(case, seen)}

    return stage


def guard_cost(here: Here) -> Any:
    """What the looks at guard bands cost, with nothing else running."""
    case = here.case("ddtree", "ddtree")
    (seen,) = behave_gpu(case.facts.launch, case.settings, plugin="ddtree", timed=True, variants=())
    return summary(seen)


def backends(here: Here) -> Any:
    """Each attention backend that the engine could have here: seen, not installed, or refusing, by name."""
    case = here.case("ngram")
    asked = cells(("fa3", "fa4", "trtllm_mha"))
    return [summary(one) for one in behave_gpu(case.facts.launch, case.settings, asked=asked, variants=())]


def engines(here: Here, *names: str) -> Any:
    """The whole engine of each launch: speculation off twice and on, graphs off and on, the same greedy tokens."""
    return {name: whole(here, name) for name in names or WHOLE}


def engine_planted(here: Here, *names: str) -> Any:
    """The same for STANDALONE under a mutant that keeps other rows than were accepted: DD411 is to find it."""
    found = {name: whole(here, "standalone", mutant=name) for name in names or PLANTED}
    return tally({name: one | {"killed": "DD411" in one["judged"]} for name, one in found.items()})


def whole(here: Here, name: str, mutant: str = "") -> dict[str, Any]:
    """The whole engine of a launch, clean or under a mutant."""
    plugin = PLUGINS.get(name, "")
    return said(here.case(name, plugin), plugin=plugin, mutant=mutant, jobs=here.jobs)


STAGES: Mapping[str, Callable[..., Any]] = {
    "environment": environment,
    "warm": warm,
    "ngram": suite("ngram", "--budget", BUDGETS),
    "ngram-pages": suite("ngram", "--page-size", "16,64"),
    "ddtree": suite("ddtree", "--page-size", PAGES, "--budget", EVEN),
    "ddtree-odd": suite("ddtree", "--page-size", PAGES, "--budget", ODD),
    "standalone": suite("standalone", "--page-size", PAGES),
    "eagle": suite("eagle"),
    "dflash": suite("dflash", "--page-size", PAGES),
    "none": suite("none", "--page-size", PAGES),
    "flashinfer": suite("ngram", "--backends", "flashinfer"),
    "flashinfer-more": suite("ddtree", "--backends", "flashinfer", "--page-size", PAGES),
    "faults": faults,
    "backends": backends,
    "memcheck": sanitized("memcheck"),
    "racecheck": sanitized("racecheck"),
    "initcheck": sanitized("initcheck"),
    "memcheck-planted": sanitized("memcheck", "gpu/store_behind_positions"),
    "guard-cost": guard_cost,
    "engine": engines,
    "engine-planted": engine_planted,
    "mutants": behaviour_mutants,
    "mutants-memcheck": memory_mutants,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the groups; 1 if a stage raised."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", required=True, help="folder for what was seen")
    parser.add_argument("--jobs", type=int, default=8, help="probes side by side (default 8)")
    parser.add_argument("groups", nargs="+", metavar="GROUP", help=f"stages: {', '.join(STAGES)}")
    options = parser.parse_args(arguments)
    groups = [group.lstrip("&").split("+") for group in options.groups]
    for name in (name for group in groups for name in group):
        if name.partition(":")[0] not in STAGES:
            parser.error(f"stage {name!r}: is none of {', '.join(STAGES)}")
    here = Here(out=Path(options.out).resolve(), jobs=options.jobs)
    here.out.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(64) as pool:
        for given, names in zip(options.groups, groups, strict=True):
            running = [pool.submit(_run, here, name) for name in names]
            if not given.startswith("&"):
                _wait(running)
    return int(any("raised" in one["found"] for one in here.results.values() if isinstance(one["found"], dict)))


def _run(here: Here, name: str) -> None:
    began = time.monotonic()
    stage, _, words = name.partition(":")
    try:
        found: Any = STAGES[stage](here, *filter(None, words.split(",")))
    except Exception as error:
        found = {"raised": f"{type(error).__name__}: {error}"}
    here.note(name, began, found)


def _wait(running: Sequence[Future[None]]) -> None:
    for one in running:
        one.result()


if __name__ == "__main__":
    sys.exit(main())
