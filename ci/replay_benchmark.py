"""How long verdicts take: `python ci/replay_benchmark.py [--runs N] [--tier TIER …]`.

Prints the wall time of `doctor check` on the founding launch at each tier, best and median of the runs. Where there is
a GPU it also prints that of `doctor replay` for one algorithm over all its widths and page sizes, and what the looks at
guard bands cost. Nothing else should run meanwhile. Exit status 1 where a verdict is not `ready`, or a figure is over
its bound: 60 s for replay-cpu, 180 s for the GPU's suite, 1.3 times for guard bands.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ddtree_doctor.contract.build import build
from ddtree_doctor.engine.source.read import read_engine
from ddtree_doctor.facts.host import read_host
from ddtree_doctor.facts.read import read_facts
from ddtree_doctor.launch import read_file
from ddtree_doctor.probe.replay_gpu import behave_gpu

ROOT = Path(__file__).resolve().parents[1]
LAUNCH = str(ROOT / "fixtures/launches/ddtree-b8-budget32.sh")
GPU_LAUNCH = str(ROOT / "ci/gpu/launches/ddtree.sh")
PLUGIN = "ddtree"
WIDTHS = ("--page-size", "1,16,64", "--budget", "8,9,16,17,32,33,64,65")
CPU_TIERS = ("static", "shape", "replay-cpu")
BOUNDS = {"replay-cpu": 60.0, "replay-gpu": 180.0}
"""Tier → seconds."""

GUARD_BOUND = 1.3
_LOOKS = re.compile(r"suite with guard bands ([\d.]+) s, without looks ([\d.]+) s")


def seconds(words: Sequence[str]) -> float:
    """The wall time of `doctor …`. Raises CalledProcessError where its verdict is not ready."""
    began = time.monotonic()
    command = [sys.executable, "-m", "ddtree_doctor", *words, "--json", "/dev/null"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - began


def timed(tier: str, words: Sequence[str], runs: int) -> bool:
    """Print a tier's figures; whether they are within its bound."""
    took = [seconds(words) for _ in range(runs)]
    print(f"{tier}: {min(took):.2f} s best, {statistics.median(took):.2f} s median of {runs}", flush=True)
    return min(took) <= BOUNDS.get(tier, float("inf"))


def guarded() -> bool:
    """Print what the looks at guard bands cost; whether that is within its bound."""
    engine = read_engine(plugins=(PLUGIN,))
    facts = read_facts(read_file(GPU_LAUNCH, engine.options)[0], read_host(None), engine)
    (seen,) = behave_gpu(facts.launch, build(facts).settings, plugin=PLUGIN, timed=True, variants=())
    found = next((match for note in seen.notes if (match := _LOOKS.search(note))), None)
    if found is None:
        print(f"guard bands: not measured: {seen.unknown or 'the probe noted no figure'}")
        return False
    ratio = float(found[1]) / float(found[2])
    print(f"guard bands: {found[1]} s with, {found[2]} s without, {ratio:.2f} times")
    return ratio <= GUARD_BOUND


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="runs of each tier (default 3)")
    parser.add_argument("--tier", nargs="+", choices=CPU_TIERS, default=CPU_TIERS, help="tiers of check to time")
    options = parser.parse_args()
    within = [timed(tier, ("check", LAUNCH, "--plugin", PLUGIN, "--tier", tier), options.runs) for tier in options.tier]
    if read_host(None).gpus:
        words = ("replay", GPU_LAUNCH, "--plugin", PLUGIN, "--host", "gpu", *WIDTHS)
        within += [timed("replay-gpu", words, 1), guarded()]
    return int(not all(within))


if __name__ == "__main__":
    sys.exit(main())
