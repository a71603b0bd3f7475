"""A start on a GPU as plain data: what the launch says, what a cell changes, what the probe sets."""

from __future__ import annotations

from dataclasses import replace

import pytest
from dacite import Config, from_dict
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.contract.settings import resolve
from ddtree_doctor.engine.replay.gpu_job import Cell, GpuJob, dtype_on, gpu_job, gpu_start
from tests.strategies import facts

NGRAM = ("--speculative-algorithm", "NGRAM", "--speculative-num-draft-tokens", "17")


def start(cell: Cell, *words: str):
    one = facts(*words)
    return gpu_start(one.launch, resolve(one), cell)


def test_a_start_runs_on_one_gpu_with_the_cells_backend_and_page_size():
    found = start(Cell(backend="flashinfer", page_size=16), *NGRAM, "--tp", "8")
    assert (found.device, found.tp, found.page_size) == ("cuda", 1, 16)
    assert found.fixed["attention_backend"] == "flashinfer"
    assert "--tp" not in found.options


def test_what_the_launch_says_stays_where_the_cell_says_nothing():
    found = start(Cell(), *NGRAM, "--attention-backend", "triton", "--page-size", "4")
    assert found.fixed["attention_backend"] == "triton"
    assert "--speculative-num-draft-tokens" in found.options
    assert "--page-size" in found.options


@given(st.integers(1, 128), st.sampled_from([1, 16, 64]))
def test_a_budget_sizes_the_tree_and_leaves_room_before_it(budget: int, page: int):
    found = start(Cell(budget=budget, page_size=page), *NGRAM)
    assert found.fixed["speculative_num_draft_tokens"] == budget + 1
    assert found.context >= 4 * (budget + 1)
    assert found.context % page == 0


@pytest.mark.parametrize(
    ("given", "backend", "dtype"),
    [
        ((), "triton", "bfloat16"),
        (("--dtype", "auto"), "triton", "bfloat16"),
        (("--dtype", "half"), "triton", "float16"),
        (("--dtype", "float32"), "triton", "float32"),
        (("--dtype", "float32"), "flashinfer", "bfloat16"),
        (("--dtype", "float16"), "fa3", "float16"),
    ],
)
def test_the_launchs_dtype_is_taken_where_the_backend_has_kernels_for_it(given, backend: str, dtype: str):
    assert dtype_on(facts(*NGRAM, *given).launch, backend) == dtype


def test_a_job_goes_through_json_and_comes_back():
    job = gpu_job(start(Cell(), *NGRAM), sizes=(1, 2), only=("captured/",), guard="apart", variants=())
    assert job.start["fixed"]["cuda_graph_bs_decode"] == [1, 2]
    plain = {name: getattr(job, name) for name in job.__dataclass_fields__}
    assert from_dict(GpuJob, plain, Config(cast=[tuple])) == job


def test_a_plugins_budget_goes_to_its_own_option():
    settings = resolve(facts())
    tree = replace(settings, algorithm=replace(settings.algorithm, value="DDTREE", origin="given"))
    found = gpu_start(facts().launch, tree, Cell(budget=9))
    assert (found.values["speculative_ddtree_budget"], found.budget) == (9, 9)
