"""What the package's modules are seen to define, to import and to name."""

from __future__ import annotations

import ast
from importlib import import_module

import pytest

from ddtree_doctor.reduction.modules import annotated_names, global_names, module_of, package_imports


def names(source: str) -> list[str]:
    return sorted(name.id for name in global_names(ast.parse(source)))


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        ("def f(a, b=c): return a + d", ["c", "d"]),
        ("def f(): x = y; return x", ["y"]),
        ("def f(x: A) -> B: return x", []),
        ("x: A = y", ["x", "y"]),
        ("@d\nclass C(B):\n    a: int = k\n    def m(self): return a", ["B", "a", "d", "k"]),
        ("def f():\n    def g(): return h\n    return g", ["h"]),
        ("[a for a in b if c]", ["b", "c"]),
        ("lambda a: a + b", ["b"]),
    ],
)
def test_names_are_those_that_no_function_around_them_binds(source, seen):
    assert names(source) == seen


def test_names_in_annotations_are_told_apart():
    node = ast.parse("def f(a: A[B]) -> C:\n    x: D = y")
    assert sorted(name.id for name in annotated_names(node)) == ["A", "B", "C", "D"]


def test_a_module_is_parsed_with_its_definitions_and_what_explains_them():
    module = module_of("ddtree_doctor.replay.record")
    assert module.about.startswith("What was seen when scenarios ran")
    assert {"Gap", "tolerance", "EPSILON", "SPREADS"} <= set(module.definitions)
    assert len(module.definitions["EPSILON"]) == 2, "the string behind it goes with it"
    assert "__all__" not in module.definitions


def test_imports_of_the_package_are_told_from_others_and_modules_from_names():
    imports = module_of("ddtree_doctor.engine.replay.stage").imports
    assert (imports["seams"].module, imports["seams"].attribute) == ("ddtree_doctor.engine.seams", "")
    assert (imports["Slots"].module, imports["Slots"].attribute) == ("ddtree_doctor.engine.replay.slots", "Slots")
    assert imports["Slots"].ours
    assert (imports["torch"].ours, imports["torch"].statement) == (False, "import torch")


def test_imports_inside_a_function_are_found():
    (statement,) = module_of("ddtree_doctor.engine.host").definitions["_recording_backend"]
    ((_, imports),) = package_imports(statement)
    assert imports["RecordingBackend"].module == "ddtree_doctor.engine.backend"


def test_a_module_without_source_is_refused():
    with pytest.raises(LookupError, match="has no source here"):
        module_of("ddtree_doctor.no_such_module")


def test_each_definition_is_there_when_the_module_is_imported():
    name = "ddtree_doctor.tree.model"
    assert all(hasattr(import_module(name), one) for one in module_of(name).definitions)
