"""What holds for every rule, whatever it finds."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ddtree_doctor.checks import rules
from ddtree_doctor.rule import CONFIDENCES, SEVERITIES, Check
from ddtree_doctor.tiers import TIERS

RULES = rules()
FOLDER = Path(__file__).parents[2] / "fixtures" / "specimens"
DOCS = Path(__file__).parents[2] / "docs" / "rules"
HEAVY = {"torch", "sglang", "triton", "transformers", "numpy", "rich"}
PURE = {"open", "exec", "eval", "__import__", "compile", "input", "print"}


def code(rule: type[Check]) -> str:
    return rule.code


def tree(rule: type[Check]) -> ast.Module:
    return ast.parse(Path(inspect.getfile(rule)).read_text(encoding="utf-8"))


def test_codes_are_unique_sorted_and_of_one_form() -> None:
    codes = [rule.code for rule in RULES]

    assert codes == sorted(set(codes))
    assert all(re.fullmatch(r"DD\d{3}", one) for one in codes)


def test_names_are_unique() -> None:
    names = [rule.slug() for rule in RULES]

    assert len(set(names)) == len(names)


@pytest.mark.parametrize("rule", RULES, ids=code)
def test_a_name_is_short_and_names_the_bad_pattern(rule: type[Check]) -> None:
    assert len(rule.slug()) <= 40
    assert not {"no", "check", "valid", "disallow", "banned", "ok", "should", "must"} & set(
        rule.slug().removeprefix("no-batch-size-survives").split("-")
    )


@pytest.mark.parametrize("rule", RULES, ids=code)
def test_the_metadata_is_complete(rule: type[Check]) -> None:
    assert rule.severity in SEVERITIES
    assert rule.confidence in CONFIDENCES
    assert rule.tier in TIERS
    assert rule.title().endswith(".")
    assert rule.why.endswith(".")
    assert rule.fix
    assert (rule.judge.__doc__ or "").strip()
    assert re.fullmatch(r"\d+\.\d+", rule.since)


@pytest.mark.parametrize("rule", RULES, ids=code)
def test_a_report_alone_never_blocks(rule: type[Check]) -> None:
    assert (rule.confidence, rule.severity) != ("reported", "error")


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.refuses], ids=code)
def test_what_keeps_the_engine_from_starting_is_known_without_starting_it(rule: type[Check]) -> None:
    assert rule.tier == "static"
    assert rule.confidence != "reported"


@pytest.mark.parametrize("rule", RULES, ids=code)
def test_references_are_public_addresses(rule: type[Check]) -> None:
    assert len(set(rule.references)) == len(rule.references)
    for url in rule.references:
        assert re.fullmatch(r"https://[a-z0-9.-]+\.[a-z]+(/[^\s]*)?", url)


@pytest.mark.parametrize("rule", RULES, ids=code)
def test_a_rule_imports_no_engine_and_touches_no_file(rule: type[Check]) -> None:
    imported, called = set(), set()
    for node in ast.walk(tree(rule)):
        if isinstance(node, ast.Import):
            imported |= {name.name.partition(".")[0] for name in node.names}
        if isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
            assert not (node.module or "").startswith("ddtree_doctor.engine")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called.add(node.func.id)

    assert not imported & (HEAVY | {"os", "pathlib", "subprocess", "socket", "io"})
    assert not called & PURE


def test_one_file_holds_one_rule() -> None:
    files = [inspect.getfile(rule) for rule in RULES]

    assert len(set(files)) == len(files)


@pytest.mark.parametrize("rule", RULES, ids=code)
def test_a_rule_has_specimens_and_a_page(rule: type[Check]) -> None:
    assert (FOLDER / f"{rule.code}.yaml").is_file() or (FOLDER / rule.code).is_dir()
    assert (DOCS / f"{rule.code}.md").is_file()


def test_every_specimen_belongs_to_a_rule() -> None:
    known = {rule.code for rule in RULES}

    assert {path.stem for path in FOLDER.glob("DD*")} <= known


def test_loading_every_rule_loads_no_engine() -> None:
    script = (
        "import sys, ddtree_doctor.checks as c; c.rules(); "
        "print(sorted({'torch', 'sglang', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
