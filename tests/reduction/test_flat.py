"""Definitions of the package gathered with all that they need, and taken over as text that stands by itself."""

from __future__ import annotations

import ast
import sys
from types import ModuleType

import pytest

from ddtree_doctor.reduction.flat import defining, flattened
from ddtree_doctor.reduction.taken import taken

SCENARIO = ("ddtree_doctor.replay.scenario", "Scenario")
STAGE = ("ddtree_doctor.engine.replay.stage", "Stage")
NAMESPACE = "from __future__ import annotations\n"


def text(flat):
    return taken(flat, flat.modules(), {})


def test_what_a_definition_needs_comes_with_it_and_nothing_else():
    flat = flattened([SCENARIO])
    names = {name for _, name in flat.wanted}
    assert {"Scenario", "Batch", "Request", "Tree", "_shorter", "_request"} <= names
    assert "from_parents" not in names
    assert flat.statements(standard=False) == []


def test_the_text_runs_by_itself_and_does_what_the_package_does(monkeypatch):
    flat = flattened([SCENARIO])
    module = ModuleType("a_flat_module")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    source = "\n".join([NAMESPACE, *flat.statements(standard=True), "from typing import Any", text(flat)])
    exec(compile(source, "a flat module", "exec"), vars(module))
    value = {
        "name": "s",
        "page_size": 4,
        "batches": [[{"slot": 0, "prefix": 2, "parents": [-1, 0], "tokens": [1, 2], "pads": 1, "pad_token": 0}]],
    }
    scenario = module.Scenario.from_json(value)
    assert scenario.batches[0].width == 3
    assert scenario.batches[0].requests[0].tree.parents == (-1, 0)
    with pytest.raises(ValueError, match="has no batch"):
        module.Scenario(name="s", batches=())


def test_methods_that_nothing_calls_are_left_out_unless_others_call_them():
    flat = flattened([STAGE])
    assert "def share" not in text(flat)
    assert "def release" in text(flat)
    whole = flattened([STAGE], whole=[("ddtree_doctor.engine.replay.slots", "Slots")])
    assert "def share" in text(whole)


def test_what_is_reached_through_a_module_is_called_by_both_names():
    source = text(flattened([STAGE]))
    assert "def seams_find(" in source
    assert 'seams_find("forward batch")' in source
    assert "seams.find" not in source


def test_nothing_of_the_package_is_imported_and_every_name_is_there():
    flat = flattened([STAGE])
    tree = ast.parse(text(flat))
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not [node for node in imported if (node.module or "").startswith("ddtree_doctor")]
    defined = {name for statement in tree.body for name in [getattr(statement, "name", "")]}
    assert set(flat.called().values()) - defined <= {
        target.id
        for statement in tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
    }


def test_a_module_comes_behind_those_that_it_imports():
    order = flattened([SCENARIO]).modules()
    assert order.index("ddtree_doctor.tree.model") < order.index("ddtree_doctor.replay.scenario")


def test_a_name_that_is_handed_on_is_found_where_it_is_defined():
    assert defining("ddtree_doctor.engine.seams", "REACHES") == ("ddtree_doctor.engine.reaches", "REACHES")


def test_what_is_cut_off_is_there_without_what_it_needs():
    table = ("ddtree_doctor.engine.reaches", "REACHES")
    assert ("ddtree_doctor.engine.reaches", "Reach") in flattened([table]).wanted
    assert flattened([table], cut=[table]).wanted == {table}
