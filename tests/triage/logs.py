"""What the tests of triage share: logs as text, and what is found in them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ddtree_doctor.triage import triage_blocks
from ddtree_doctor.triage.catalogue import catalogue, notices
from ddtree_doctor.triage.order import incident
from ddtree_doctor.triage.reader import read_blocks
from ddtree_doctor.triage.run import Reading
from ddtree_doctor.triage.subject import subject_of

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"
sys.path.insert(0, str(LOGS))
from write import WRAPPINGS, Entry, compose, facts  # noqa: E402

__all__ = ["WRAPPINGS", "Entry", "compose", "facts"]

EXPECTED = json.loads((LOGS / "expected.json").read_text("utf-8"))
SIZES = "RuntimeError: The size of tensor a (8) must match the size of tensor b (33) at non-singleton dimension 0"
ARGS = (
    "[2026-05-11 12:00:00] server_args=ServerArgs(model_path='/models/kimi', speculative_algorithm='DDTREE', "
    "speculative_num_draft_tokens=8, speculative_ddtree_budget=32, tp_size=8)"
)
IMA = "torch.AcceleratorError: CUDA error: an illegal memory access was encountered"
SGLANG = "/sgl-workspace/sglang/python/sglang/srt/"


def traceback(
    exception: str, *frames: str, head: str = "[2026-05-11 12:00:22 TP3] Scheduler hit an exception: "
) -> list[str]:
    """A traceback under SGLang's frames; a frame is `path.py:function` or `path.py:function:code`."""
    lines = [f"{head}Traceback (most recent call last):"]
    for frame in frames or (
        "managers/scheduler.py:event_loop_overlap",
        "model_executor/cuda_graph_runner.py:replay_prepare",
    ):
        path, function, *code = frame.split(":", 2)
        lines.append(f'  File "{SGLANG}{path}", line 100, in {function}')
        lines += [f"    {code[0]}"] if code else []
    return [*lines, exception]


def diagnose(*lines: str, name: str = "server.log"):
    """The report on a log of these lines."""
    return triage_blocks({name: ["\n".join(lines).encode() + b"\n"]})


def first(*lines: str):
    """The first incident of a log of these lines."""
    return diagnose(*lines).incidents[0]


def reading_of(*lines: str) -> Reading:
    """What is read from a log of these lines."""
    reading = Reading()
    read_blocks("server.log", ["\n".join(lines).encode()], reading, notices(catalogue()))
    return reading


def subject(*lines: str):
    """The subject that the first run with a fault makes."""
    for run in reading_of(*lines).runs:
        if found := incident(run):
            return subject_of(found, run)
    raise AssertionError("no fault in the log")
