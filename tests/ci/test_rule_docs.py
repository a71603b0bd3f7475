"""The pages of the rules are those that the generator writes from the classes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "ci"))

import rule_docs


def test_the_committed_pages_are_up_to_date() -> None:
    assert rule_docs.stale() == [], "run: python ci/rule_docs.py"


def test_writing_makes_missing_stale_and_foreign_pages_right(tmp_path: Path) -> None:
    (tmp_path / "DD108.md").write_text("stale")
    (tmp_path / "DD999.md").write_text("of no rule")

    changed = rule_docs.write(tmp_path)

    assert {"DD101.md", "DD108.md", "DD999.md", "README.md"} <= set(changed)
    assert not (tmp_path / "DD999.md").exists()
    assert rule_docs.stale(tmp_path) == []


@pytest.mark.parametrize("part", ["# DD108", "## Why it is bad", "## What to change", "## Sources", "--ignore DD108"])
def test_a_page_holds_its_parts(part: str) -> None:
    assert part in rule_docs.pages()["DD108.md"]
