"""How fast triage reads and how much memory it takes: `python ci/triage_benchmark.py [--megabytes N] [--keep FILE]`.

Makes an ordinary server log (batch and access lines, a start-up before, a crash at the end), runs `doctor triage` and
`grep -c -F -f literals` on it in turn, and prints throughput, peak memory and the ratio. Processor time counts, so
that other work on the machine does not; wall time is printed beside it. Exit status 1 below 100 MB/s or above 150 MB.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ddtree_doctor.triage.scan import LITERALS, OPENINGS

MEGABYTES = 1024
SPEED_MIN = 100.0
MEMORY_MAX = 150.0
CHUNK = 4 << 20
START = (
    "[2026-05-11 11:59:00] server_args=ServerArgs(model_path='/models/target', tp_size=8, "
    "speculative_algorithm='DDTREE', speculative_num_draft_tokens=8, speculative_ddtree_budget=32)\n"
    "[2026-05-11 12:00:00] The server is fired up and ready to roll!\n"
)
# A process's peak counts what its parent held when it was forked, so a small one stands between. Into /dev/null, grep
# would stop at its first match.
WATCH = (
    "import resource, subprocess, sys; "
    "status = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE).returncode; "
    "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
    "print(used.ru_utime + used.ru_stime, used.ru_maxrss, status)"
)
CRASH = (
    "[2026-05-11 18:00:00 TP3] Scheduler hit an exception: Traceback (most recent call last):\n"
    '  File "/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py", line 2500, in event_loop_overlap\n'
    "    result = self.run_batch(batch)\n"
    "RuntimeError: The size of tensor a (8) must match the size of tensor b (33) at non-singleton dimension 0\n"
)


def make(path: Path, megabytes: int) -> None:
    """Write an ordinary log of about `megabytes` (10^6 bytes) to `path`."""
    dice = random.Random(4)
    with path.open("w") as log:
        log.write(START)
        while log.tell() < megabytes * 1_000_000:
            log.write("".join(_line(dice, second) for second in range(CHUNK // 160)))
        log.write(CRASH)


def _line(dice: random.Random, second: int) -> str:
    clock = f"{12 + second // 3600 % 6:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
    kind = dice.random()
    if kind < 0.4:
        return (
            f"[2026-05-11 {clock} TP0] Decode batch, #running-req: {dice.randint(1, 64)}, #token: "
            f"{dice.randint(1, 999999)}, token usage: {dice.random():.2f}, accept len: {dice.uniform(1, 8):.2f}, "
            f"accept rate: 0.62, cuda graph: True, gen throughput (token/s): {dice.uniform(10, 9999):.2f}, "
            "#queue-req: 0\n"
        )
    if kind < 0.6:
        return (
            f"[2026-05-11 {clock} TP0] Prefill batch, #new-seq: 1, #new-token: {dice.randint(1, 8192)}, #cached-token: "
            f"{dice.randint(0, 9999)}, token usage: 0.31, #running-req: 12, #queue-req: 3, \n"
        )
    return (
        f'INFO:     10.0.{second % 255}.7:{dice.randint(1024, 65535)} - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
    )


def measured(command: list[str]) -> tuple[float, float, float, int]:
    """Seconds of processor, seconds of wall, peak memory in MB and exit status of `command`."""
    began = time.perf_counter()
    watched = subprocess.run([sys.executable, "-c", WATCH, *command], stdout=subprocess.PIPE, text=True, check=True)
    wall = time.perf_counter() - began
    processor, peak, status = watched.stdout.split()[-3:]
    return float(processor), wall, float(peak) / 1024, int(status)


def main() -> int:
    """Print the figures; 1 where one misses what issue 4 asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--megabytes", type=int, default=MEGABYTES, metavar="N")
    parser.add_argument("--keep", metavar="FILE", help="write the log here and keep it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(options.keep) if options.keep else Path(folder) / "server.log"
        make(log, options.megabytes)
        literals = Path(folder) / "literals"
        literals.write_bytes(b"\n".join(literal for _, literal in (*LITERALS, *OPENINGS)) + b"\n")
        return report(log, literals)


def report(log: Path, literals: Path) -> int:
    """Run both on `log` and print."""
    size = log.stat().st_size / 1e6
    processor, wall, memory, status = measured([sys.executable, "-m", "ddtree_doctor", "triage", str(log)])
    speed = size / processor
    print(f"triage: {size:.0f} MB at {speed:.0f} MB/s of one core ({wall:.1f} s wall)")
    print(f"peak memory: {memory:.0f} MB; exit status {status}")
    if shutil.which("grep"):
        grep, grep_wall, _, _ = measured(["grep", "-c", "-F", "-f", str(literals), str(log)])
        print(f"grep -c -F -f literals: {size / grep:.0f} MB/s of one core ({grep_wall:.1f} s wall)")
        print(f"ratio: triage takes {processor / grep:.2f} times the processor time of grep")
    return 0 if speed >= SPEED_MIN and memory <= MEMORY_MAX and status == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
