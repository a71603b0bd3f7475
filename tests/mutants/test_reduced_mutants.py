"""Planted faults reduced to one scenario each, and written files that show them without the doctor."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from ddtree_doctor.engine.mutants import mutant_file
from ddtree_doctor.reduction.scenarios import size
from ddtree_doctor.reduction.search import Reduced, Search
from tests.mutants.observed import case_of, group_of, mutant

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.mutant, pytest.mark.timeout(1200)]

NAMES = ("positions_by_row", "mask_rebound", "shrink_without_reset")
BLOCKED = "import runpy, sys; sys.modules['ddtree_doctor'] = None; sys.argv = sys.argv[1:]; "
PATIENCE = 600
AT_ONCE = 2


@dataclass(frozen=True)
class Shown:
    """A reduced mutant, its file, and what two runs of that came to: with the mutant, and where no doctor is."""

    reduced: Reduced
    file: Path
    planted: subprocess.CompletedProcess[str]
    clean: subprocess.CompletedProcess[str]


def shown(name: str, folder: Path) -> Shown:
    group, file = group_of(name), folder / f"{name}.py"
    search = Search(
        case=case_of(group),
        plugin=group.plugin,
        mutant=name,
        only=tuple(mutant(name).SCENARIOS),
        name=file.name,
    )
    found = search.by_rule_alone()
    file.write_text(found.text, encoding="utf-8")
    without_doctor = [sys.executable, "-c", f"{BLOCKED}runpy.run_path(sys.argv[0], run_name='__main__')", str(file)]
    return Shown(
        reduced=found,
        file=file,
        planted=_ran([sys.executable, str(file), "--apply", mutant_file(name)]),
        clean=_ran(without_doctor),
    )


def _ran(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.fixture(scope="module")
def all_shown(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Shown]:
    """Every mutant, two at a time."""
    folder = tmp_path_factory.mktemp("reduced")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(NAMES, pool.map(lambda name: shown(name, folder), NAMES), strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_a_mutant_is_reduced_to_one_scenario_of_the_rule_that_kills_it(name: str, all_shown) -> None:
    found = all_shown[name].reduced
    assert found.found.code == mutant(name).KILLED_BY
    assert len(found.scenarios) == 1


@pytest.mark.parametrize("name", NAMES)
def test_the_written_file_fails_with_the_mutant(name: str, all_shown) -> None:
    ran = all_shown[name].planted
    assert ran.returncode == 1, ran.stderr[-2000:]
    assert f"FAILS {mutant(name).KILLED_BY}: " in ran.stdout


@pytest.mark.parametrize("name", NAMES)
def test_it_passes_without_the_mutant_where_no_doctor_is_installed(name: str, all_shown) -> None:
    ran = all_shown[name].clean
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    assert "passes: " in ran.stdout


def test_what_is_left_of_each_mutant_is_what_it_breaks(all_shown) -> None:
    sizes = {name: size(each.reduced.scenarios) for name, each in all_shown.items()}
    assert sizes["positions_by_row"] == (1, 1, 2, 1), "a root with two children: the second one's row is not its depth"
    assert sizes["mask_rebound"] == (1, 1, 0, 1), "a lone root, whose mask is the prefix's"
    scenarios, _, nodes, _ = sizes["shrink_without_reset"]
    assert (scenarios, nodes) == (1, 0)
    batches = [batch.size for batch in all_shown["shrink_without_reset"].reduced.scenarios[0].batches]
    assert len(batches) == 2, "one batch leaves rows behind, the next one has them as padding"


def test_the_eager_forward_is_told_apart_from_its_graph(all_shown) -> None:
    assert "DD302" in all_shown["positions_by_row"].reduced.found.eager
    assert all_shown["mask_rebound"].reduced.found.eager == {}
