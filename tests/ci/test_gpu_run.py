"""The script of a GPU host without one: what it refuses, and what counts as a mutant that was found."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "ci" / "gpu"))

import planted
import run as gpu_run

from ddtree_doctor.replay.record import Access, Behaviour, Gap, Pass

SAME = Gap(largest=0.0, scale=4.0, spread=0.0)
APART = Gap(largest=3.0, scale=4.0, spread=0.0)
CLEAN = Behaviour(
    host="gpu",
    algorithm="NGRAM",
    role="target_verify",
    backend="triton",
    dtype="bfloat16",
    page_size=1,
    width=7,
    passes=(Pass(scenario="captured/1", step=0, bs=1, hit=True, captured_bs=1, key="1", replay=SAME, path=SAME),),
    launches=3,
)
DIFFERS = replace(CLEAN, passes=(replace(CLEAN.passes[0], replay=APART),))
STRAY = Access(where="k (k.py:1)", access="invalid global read of 16 bytes", offset=528, size=528, scenario="s")


@pytest.fixture
def here(tmp_path):
    return gpu_run.Here(out=tmp_path, jobs=1)


@pytest.fixture
def seen(monkeypatch):
    """What the probes see, with and without memcheck, in place of their processes."""

    def answer(plain, under_memcheck=CLEAN):
        monkeypatch.setattr(planted, "behave_gpu", lambda *_, **__: (plain,))
        monkeypatch.setattr(planted, "sanitize", lambda *_, **__: (replace(under_memcheck, sanitizer="memcheck"),))

    return answer


def test_a_stage_that_is_none_is_refused_before_anything_runs(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        gpu_run.main(["--out", str(tmp_path / "out"), "ngram+ngrm"])
    assert ended.value.code == 2
    assert "'ngrm': is none of environment" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_mutant_is_killed_by_the_twin_of_its_rule(here, seen):
    seen(DIFFERS)
    assert planted.killed(here, "mask_rebound")["killed"]
    seen(CLEAN)
    assert not planted.killed(here, "mask_rebound")["killed"]


def test_a_memory_mutant_that_shows_nowhere_runs_under_memcheck(here, seen):
    seen(CLEAN, replace(CLEAN, reports=(STRAY,)))
    found = planted.killed(here, "kernel_loads_one_row_more")
    assert (found["killed"], found["wanted"], found["sanitizer"]) == (True, "DD410", "memcheck")
    seen(CLEAN)
    assert not planted.killed(here, "kernel_loads_one_row_more")["killed"]


def test_a_memory_mutant_may_show_in_what_it_overwrites(here, seen):
    seen(DIFFERS)
    assert planted.killed(here, "index_kernel_stores_one_more")["killed"]


def test_mutants_of_served_rounds_are_not_meant_for_a_gpu(here, monkeypatch):
    monkeypatch.setattr(planted, "killed", lambda _, name: {"killed": False})
    meant = planted.behaviour_mutants(here)
    assert meant["of"] == len(meant["each"]) > 30
    assert "mask_rebound" in meant["each"]
    assert "draft_graph_keeps_its_positions" not in meant["each"]
