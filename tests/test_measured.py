"""What was measured is read strictly, and quoted where it is the same cell, nowhere else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ddtree_doctor.checks.dd130_hazardous_architecture import HazardousArchitecture
from ddtree_doctor.measured import MEASURED, load, measured_like, said
from ddtree_doctor.replay.arch import ArchLedger, Measured, Run
from tests.checks.specimen import FOLDER, read

CELL = Measured(
    algorithm="DDTREE", backend="triton", width=33, page_size=1, dtype="bfloat16", verdict="failed", findings=("DD401",)
)
RUN = Run(
    date="2026-11-29",
    command="doctor replay ddtree.sh",
    gpu="NVIDIA B300",
    driver="580",
    torch="2.11.0",
    triton="3.6.0",
    sglang="0.5.17",
    doctor="0.1.0",
    cells=(CELL, replace(CELL, page_size=16, verdict="passed", findings=(), scenarios=62)),
)
LEDGERS = {"sm_103": ArchLedger(arch="sm_103", runs=(RUN,))}
SPECIMENS = {one.name: one.case for one in read(Path(FOLDER) / "DD130.yaml")}
TREE_ON_B300, CHAIN = SPECIMENS["a budget of 32 on B300"], SPECIMENS["a budget of 8 on B300"]


def test_the_same_algorithm_backend_and_width_on_the_same_architecture_is_quoted():
    assert [said(*one) for one in measured_like(TREE_ON_B300, LEDGERS)] == [
        "DDTREE, 33 wide, on triton, page size 1: failed, DD401 (NVIDIA B300, SGLang 0.5.17, 2026-11-29)",
        "DDTREE, 33 wide, on triton, page size 16: passed, 62 scenarios (NVIDIA B300, SGLang 0.5.17, 2026-11-29)",
    ]


@pytest.mark.parametrize("name", ["a budget of 8 on B300", "a budget of 32 on sm_120", "trtllm kernels on sm_120"])
def test_another_width_architecture_or_backend_is_no_evidence(name: str):
    assert measured_like(SPECIMENS[name], LEDGERS) == []


def test_what_failed_where_it_was_measured_is_a_finding_that_never_blocks():
    (found,) = HazardousArchitecture().measured(TREE_ON_B300, LEDGERS)
    assert (found.severity, found.confidence) == ("warning", "reported")
    assert found.evidence["provenance"] == "measured here"
    assert "measured to fail: DDTREE, 33 wide" in found.message


def test_a_file_says_which_architecture_it_holds():
    text = ArchLedger(arch="sm_90").to_json()
    assert load({"sm_90.json": text}) == {"sm_90": ArchLedger(arch="sm_90")}
    with pytest.raises(ValueError, match="holds what was measured on sm_90"):
        load({"sm_80.json": text})
    with pytest.raises(ValueError, match=r"sm_80\.json: "):
        load({"sm_80.json": "{}"})


def test_every_shipped_ledger_says_with_what_it_was_measured():
    for ledger in MEASURED.values():
        for run, cell in ledger.cells():
            assert run.command.startswith("doctor replay ")
            assert all((run.date, run.gpu, run.driver, run.torch, run.triton, run.sglang))
            assert cell.verdict != "passed" or (cell.scenarios and cell.hits)
