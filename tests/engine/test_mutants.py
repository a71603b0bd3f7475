"""Mutants: found by name, refused by name, and applied."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddtree_doctor.engine.mutants import apply, mutant_file, mutants
from ddtree_doctor.errors import UsageError


def test_every_shipped_mutant_is_a_file_with_apply():
    assert len(mutants()) >= 20
    assert all("def apply(" in Path(mutant_file(name)).read_text() for name in mutants())


@pytest.mark.parametrize("name", ["", "no_such_mutant", "../mutants/__init__", "__init__"])
def test_an_unknown_mutant_is_a_usage_error_that_lists_them(name: str):
    with pytest.raises(UsageError, match=mutants()[0]):
        mutant_file(name)


def test_apply_runs_the_file(tmp_path: Path):
    mutant = tmp_path / "mutant.py"
    mutant.write_text("from pathlib import Path\ndef apply(): Path(__file__).with_suffix('.done').touch()\n")
    apply(str(mutant))
    assert mutant.with_suffix(".done").exists()


def test_no_mutant_changes_nothing():
    apply("")
