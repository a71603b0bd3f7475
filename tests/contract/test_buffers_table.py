from __future__ import annotations

import ast
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from ddtree_doctor.contract.buffers.model import KINDS
from ddtree_doctor.contract.buffers.table import DEMANDS, demands

ROLES = ("decode", "target_verify", "draft", "draft_extend")


def test_every_demand_has_a_kind_and_says_what_and_where() -> None:
    for demand in DEMANDS:
        assert demand.kind in KINDS
        assert demand.holds
        assert ".py" in demand.source
        assert set(demand.roles) <= set(ROLES)


@pytest.mark.parametrize("role", ROLES)
def test_a_role_demands_one_size_of_a_buffer(role: str) -> None:
    named = Counter((d.owner, d.name) for d in DEMANDS if not d.roles or role in d.roles)
    assert set(named.values()) == {1}
    assert len(demands(role)) == len(named)


@pytest.mark.engine
@pytest.mark.parametrize("owner", sorted({d.owner for d in DEMANDS}))
def test_the_installed_engine_has_every_buffer_of_the_table(owner: str) -> None:
    """By source alone: a class of that name, and each buffer as a field or an attribute that it assigns."""
    spec = find_spec("sglang")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("sglang is not installed")
    root = Path(spec.submodule_search_locations[0]) / "srt"
    sources = {d.source.split(":")[0] for d in DEMANDS if d.owner == owner} | {"mem_cache/memory_pool.py"}
    names = {name for source in sources for name in _names(root, source, owner)}
    assert {d.name for d in DEMANDS if d.owner == owner} <= names


def _names(root: Path, source: str, owner: str) -> set[str]:
    path = root / source.split(",")[0]
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef) and node.name == owner:
            for part in ast.walk(node):
                if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                    found.add(part.target.id)
                elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                    found.add(part.attr)
    return found
