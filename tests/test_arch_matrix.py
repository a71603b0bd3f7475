"""The matrix by architecture: measured before reported before nothing, in both of its forms."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from ddtree_doctor.arch_matrix import ARCHS, arch_matrix
from ddtree_doctor.cli.main import main
from ddtree_doctor.hazards import of_kind
from ddtree_doctor.replay.arch import VERDICTS
from ddtree_doctor.report.arch_matrix import details, print_arch_matrix, short
from tests.test_measured import CELL, LEDGERS, RUN

HAZARDS = of_kind("architecture")


def cell(algorithm: str, backend: str, arch: str, measured=LEDGERS):
    key = algorithm, backend, arch
    (found,) = [one for one in arch_matrix(measured, HAZARDS) if (one["algorithm"], one["backend"], one["arch"]) == key]
    return found


def test_the_worst_of_what_was_measured_counts_whatever_is_reported():
    found = cell("DDTREE", "triton", "sm_103")
    assert (found["state"], short(found)) == ("failed", "fail 1")
    assert "sm103-ddtree-budget-above-8" in found["reported"]


def test_what_is_only_reported_says_so_and_the_rest_is_blank():
    assert short(cell("NGRAM", "triton", "sm_121")) == "rep 1"
    assert cell("NGRAM", "triton", "sm_80")["state"] == "blank"


def test_a_hazard_of_other_parts_alone_is_no_report_of_a_combination():
    assert cell("NONE", "triton", "sm_120")["reported"] == []


@given(st.lists(st.sampled_from(VERDICTS), min_size=1, max_size=4))
def test_one_failure_outweighs_any_number_of_passes(verdicts: list[str]):
    cells = tuple(
        type(CELL)(algorithm="NGRAM", backend="triton", width=at, page_size=1, dtype="bfloat16", verdict=verdict)
        for at, verdict in enumerate(verdicts)
    )
    ledgers = {"sm_90": type(LEDGERS["sm_103"])(arch="sm_90", runs=(type(RUN)(**{**_fields(RUN), "cells": cells}),))}
    state = cell("NGRAM", "triton", "sm_90", ledgers)["state"]
    assert state == ("failed" if "failed" in verdicts else "unknown" if "unknown" in verdicts else "passed")


def _fields(run):
    return {name: getattr(run, name) for name in run.__dataclass_fields__}


def test_the_lines_below_say_with_what_it_was_measured():
    (line,) = [one for one in details(arch_matrix(LEDGERS, HAZARDS)) if one.startswith("sm_103, DDTREE on triton")]
    assert line.endswith("1 failed, 1 passed; widths 33; pages 1, 16; SGLang 0.5.17, NVIDIA B300, 2026-11-29")


def test_the_table_has_a_column_for_each_architecture():
    out = io.StringIO()
    print_arch_matrix(arch_matrix(LEDGERS, HAZARDS), Console(file=out, width=100))
    assert all(arch in out.getvalue() for arch in ARCHS)


def test_the_verb_gives_the_cells_as_json(capsys: pytest.CaptureFixture[str]):
    assert main(["matrix", "--arch", "--json", "-"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["schema"] == "ddtree-doctor/arch-matrix/1"
    assert {one["state"] for one in body["cells"]} <= {"passed", "failed", "unknown", "reported", "blank"}


def test_a_report_format_of_a_table_is_refused(capsys: pytest.CaptureFixture[str]):
    assert main(["matrix", "--arch", "--sarif", "-"]) == 2
    assert "--sarif" in capsys.readouterr().err
