"""Each seam of the real engine, moved: the doctor names it, and never ends in a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddtree_doctor.engine.job import Job
from ddtree_doctor.engine.reaches import FIELDS, REACHES
from ddtree_doctor.probe.shape import observe_job
from tests.engine.starts import DEADLINE, STARTS

pytestmark = [pytest.mark.engine, pytest.mark.slow]

FROM_A_RUNNER = (
    *("captured width", "capture list", "capture mode", "runner's buffers", "runner's attention backend"),
    *("model runner", "request pool", "batch size of a forward", "tokens of a forward", "speculation input"),
    *("width that admission compares", "width of a verify input", "draft worker or not"),
    *("model's config", "context length", "vocabulary", "hidden size", "attention heads", "page size"),
)
"""The fields that recording reads; the others are read while the workers start, or by a replay."""


@pytest.mark.parametrize("name", REACHES)
def test_a_reach_that_moved_is_named(moved: dict[str, dict[str, str]], name: str):
    assert moved["reaches"][name].startswith(f"moved seam: {name} (")


@pytest.mark.parametrize("name", FROM_A_RUNNER)
def test_a_field_that_moved_is_named_in_the_row_or_in_the_ledger(moved: dict[str, dict[str, str]], name: str):
    assert f"moved seam: {name} (" in moved["fields"][name]


@pytest.mark.parametrize("name", sorted(set(FIELDS) - set(FROM_A_RUNNER)))
def test_a_field_that_recording_does_not_need_changes_nothing(moved: dict[str, dict[str, str]], name: str):
    assert moved["fields"][name] == "not needed"


@pytest.mark.parametrize(
    ("move", "named"),
    [
        pytest.param(
            "import sglang.srt.model_executor.runner.base_cuda_graph_runner as m; del m.get_batch_sizes_to_capture",
            "capture list rule",
            id="a function that is replaced",
        ),
        pytest.param(
            "from sglang.srt.managers.tp_worker import TpModelWorker as w; del w.init_cuda_graphs",
            "worker's graphs",
            id="a method of a worker",
        ),
    ],
)
def test_a_start_over_a_moved_seam_is_a_ledger_that_names_it(tmp_path: Path, move: str, named: str):
    mover = tmp_path / "mover.py"
    mover.write_text(f"def apply():\n    {move}\n")
    job = Job(algorithm="NONE", options=STARTS["NONE"].options, mutant=str(mover))
    ledger = observe_job(job, deadline=DEADLINE)
    assert ledger.unknown.startswith(f"moved seam: {named} (")
