"""Cells on a GPU: each ends alone, and after a fault the GPU is proven usable or the rest is unknown. No GPU needed."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import pytest

from ddtree_doctor.contract.settings import resolve
from ddtree_doctor.engine.replay.gpu_job import Cell
from ddtree_doctor.errors import UsageError
from ddtree_doctor.probe import replay_gpu
from ddtree_doctor.probe.process import Outcome
from ddtree_doctor.probe.replay_gpu import behave_gpu, cells, sanitize
from ddtree_doctor.replay.record import Behaviour, Pass
from tests.report.sample import case

FAULT = "AcceleratorError: CUDA error: an illegal memory access was encountered"
SEEN = Behaviour(
    host="gpu", algorithm="NGRAM", role="target_verify", backend="triton", dtype="bfloat16", page_size=1, width=33
)
FAULTED = asdict(SEEN) | {"passes": [asdict(Pass(scenario="captured/2", step=0, bs=2, error=FAULT))], "unknown": FAULT}
OK = Outcome(kind="ok", answer=[asdict(SEEN)])
BROKEN = Outcome(kind="ok", answer=[FAULTED])
USABLE = Outcome(kind="ok", answer="NVIDIA H200")


class Children:
    """Stands for the processes: answers by what is asked for, and notes it."""

    def __init__(self, answers: Callable[[int], Outcome], usable: Outcome) -> None:
        self.answers, self.usable = answers, usable
        self.jobs: list[Any] = []
        self.proofs = 0

    def __call__(self, argv: list[str], job: Any = None, **_: Any) -> Outcome:
        if argv[-1].endswith("usable"):
            self.proofs += 1
            return self.usable
        self.jobs.append(job)
        return self.answers(len(self.jobs) - 1)


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch):
    """Runs three cells one after the other on children that answer as given."""

    def run(answers: Callable[[int], Outcome], usable: Outcome = USABLE):
        children = Children(answers, usable)
        monkeypatch.setattr(replay_gpu, "run", children)
        launch, settings = case().facts.launch, resolve(case().facts)
        asked = cells(("triton", "flashinfer", "fa3"))
        return children, behave_gpu(launch, settings, asked=asked, at_once=1)

    return run


def test_every_combination_is_a_cell_and_none_named_is_the_launchs_own():
    assert cells() == (Cell(),)
    assert [str(cell) for cell in cells(("triton",), (1, 16), (32,))] == [
        "triton, page size 1, budget 32",
        "triton, page size 16, budget 32",
    ]


def test_cells_that_go_well_need_no_proof(replayed):
    children, seen = replayed(lambda at: OK)
    assert [one.unknown for one in seen] == ["", "", ""]
    assert children.proofs == 0


def test_a_fault_ends_its_own_cell_and_the_others_run(replayed):
    children, seen = replayed(lambda at: BROKEN if at == 0 else OK)
    assert children.proofs == 1
    assert seen[0].passes[0].error == FAULT
    assert [one.unknown for one in seen] == [FAULT, "", ""]


@pytest.mark.parametrize("kind", ["killed", "exit", "silence", "timeout"])
def test_an_end_without_a_word_is_as_suspicious_as_a_fault(replayed, kind: str):
    children, seen = replayed(lambda at: Outcome(kind=kind, why="killed by SIGKILL") if at == 0 else OK)
    assert children.proofs == 1
    assert (seen[0].unknown, seen[0].backend, seen[0].host) == ("killed by SIGKILL", "triton", "gpu")
    assert seen[1].unknown == ""


def test_a_refusal_is_named_and_proves_nothing(replayed):
    refused = Outcome(kind="failed", why="not installed: ImportError: Can not import FA3 in sgl_kernel")
    children, seen = replayed(lambda at: refused if at == 2 else OK)
    assert children.proofs == 0
    assert (seen[2].backend, seen[2].unknown) == ("fa3", refused.why)


def test_where_the_gpu_is_no_longer_usable_the_rest_is_unknown_by_name(replayed):
    dead = Outcome(kind="failed", why="AcceleratorError: CUDA error: unspecified launch failure")
    children, seen = replayed(lambda at: BROKEN, usable=dead)
    assert len(children.jobs) == 1
    assert children.proofs == 1
    assert seen[1].unknown.startswith("GPU unusable after triton ended")
    assert seen[1].unknown.endswith("unspecified launch failure")
    assert seen[2].unknown == seen[1].unknown


def test_a_budget_where_nothing_verifies_a_tree_is_a_usage_error():
    settings = resolve(case().facts)
    linear = replace(settings, algorithm=replace(settings.algorithm, value="DFLASH"))
    with pytest.raises(UsageError, match="DFLASH verifies no tree"):
        behave_gpu(case().facts.launch, linear, asked=cells(budgets=(32,)))


def test_without_the_sanitizer_it_is_a_usage_error_that_says_where_it_comes_from(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(replay_gpu.shutil, "which", lambda name: None)
    with pytest.raises(UsageError, match="comes with the CUDA toolkit"):
        sanitize(case().facts.launch, resolve(case().facts), ("memcheck",))


REPORT = """\
========= Invalid __global__ write of size 8 bytes
=========     at stray_store+0x70 in _stray.py:21
=========     Access to 0x10 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x0 of size 528 bytes
========= ERROR SUMMARY: 1 error
"""


def sanitizer(folder, body: str) -> str:
    """A program in the sanitizer's place: it writes its log, then `body` says how the probe ends."""
    path = folder / "compute-sanitizer"
    path.write_text(
        f"#!{sys.executable}\nimport json, os, sys\n"
        "log = sys.argv[sys.argv.index('--log-file') + 1]\n"
        "from ddtree_doctor.probe.child import *\n" + body
    )
    path.chmod(0o755)
    return str(path)


def answering(report: str) -> str:
    return f"open(log, 'w').write({report!r})\nserve(lambda job: [{asdict(SEEN)!r}])\n"


@pytest.fixture
def sanitized(monkeypatch: pytest.MonkeyPatch, tmp_path):
    def run(body: str) -> Behaviour:
        path = sanitizer(tmp_path, body)
        monkeypatch.setattr(replay_gpu.shutil, "which", lambda name: path)
        (seen,) = sanitize(case().facts.launch, resolve(case().facts), ("memcheck",))
        return seen

    return run


def test_what_the_sanitizer_reports_comes_back_with_the_behaviour(sanitized):
    seen = sanitized(answering(REPORT))
    assert (seen.sanitizer, seen.unknown) == ("memcheck", "")
    (report,) = seen.reports
    assert (report.where, report.offset, report.scenario) == ("stray_store (_stray.py:21)", 528, "captured/2")


def test_a_log_without_its_summary_is_no_clean_run(sanitized):
    seen = sanitized(answering("========= COMPUTE-SANITIZER\n"))
    assert seen.reports == ()
    assert seen.unknown == "compute-sanitizer memcheck came to no summary"


def test_a_sanitizer_that_dies_is_named(sanitized, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(replay_gpu._Gate, "_prove", lambda *_: None)
    seen = sanitized(f"os.kill(os.getpid(), {int(signal.SIGSEGV)})\n")
    assert seen.unknown.startswith("under compute-sanitizer memcheck: killed by SIGSEGV")
