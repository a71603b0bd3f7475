"""The architecture ledger: what is written is read, and a cell has one measurement."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ddtree_doctor.replay.arch import SCHEMA, VERDICTS, ArchLedger, Measured, Run, read_arch

words = st.text(max_size=8)
measured = st.builds(
    Measured,
    algorithm=st.sampled_from(["NGRAM", "DDTREE"]),
    backend=st.sampled_from(["triton", "fa3"]),
    width=st.integers(0, 3),
    page_size=st.sampled_from([1, 16]),
    dtype=st.just("bfloat16"),
    verdict=st.sampled_from(VERDICTS),
    passes=st.integers(0, 99),
    findings=st.lists(st.sampled_from(["DD401", "DD408"]), max_size=2).map(tuple),
    unknown=words,
)
runs = st.builds(
    Run,
    **dict.fromkeys(("date", "command", "gpu", "driver", "torch", "triton", "sglang", "doctor"), words),
    kernels=st.dictionaries(words, words, max_size=2),
    cells=st.lists(measured, max_size=4, unique_by=lambda cell: cell.key).map(tuple),
)
ledgers = st.builds(ArchLedger, arch=st.just("sm_90"), runs=st.lists(runs, max_size=3).map(tuple))


@given(ledgers)
def test_what_is_written_is_read(ledger: ArchLedger):
    assert read_arch(ledger.to_json()) == ledger


@given(ledgers, runs)
def test_a_cell_that_is_measured_again_replaces_the_older_one(ledger: ArchLedger, run: Run):
    after = ledger.with_run(run)
    assert after.runs[0] == run
    older = [cell.key for one in after.runs[1:] for cell in one.cells]
    assert not {cell.key for cell in run.cells} & set(older)
    kept = {cell.key for _, cell in ledger.cells()} - {cell.key for cell in run.cells}
    assert kept == set(older)


@given(st.text(max_size=40) | st.builds(json.dumps, st.dictionaries(words, st.integers() | st.none())))
@example('"')
def test_any_other_text_is_refused_by_name(text: str):
    with pytest.raises(ValueError, match="no architecture ledger"):
        read_arch(text)


@pytest.mark.parametrize(
    "broken",
    [
        {"schema": "ddtree-doctor/arch/2", "arch": "sm_90"},
        {"schema": SCHEMA},
        {"schema": SCHEMA, "arch": "sm_90", "more": 1},
        {"schema": SCHEMA, "arch": "sm_90", "runs": [{}]},
    ],
)
def test_what_is_no_ledger_of_this_schema_is_refused(broken: dict[str, object]):
    with pytest.raises(ValueError, match=r"ledger|schema"):
        read_arch(json.dumps(broken))


def test_a_verdict_that_is_none_is_refused():
    with pytest.raises(ValueError, match="'fine'"):
        Measured(algorithm="NGRAM", backend="triton", width=33, page_size=1, dtype="bfloat16", verdict="fine")
