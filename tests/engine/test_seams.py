"""Seams: each thing reached into, and what happens when it is no longer where it was."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.engine import seams
from ddtree_doctor.engine.reaches import FIELDS, OLDER, REACHES, Reach
from ddtree_doctor.engine.seams import MovedSeam, field, find, present, probe, replace

ENGINE = "sglang.invented_for_a_test"


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of an invented engine with one reach into it, `rule`."""
    module = ModuleType(ENGINE)
    module.rule = lambda: "rule"
    for name, value in (("sglang", ModuleType("sglang")), (ENGINE, module)):
        monkeypatch.setitem(sys.modules, name, value)
    reach = Reach(name="rule", places=(f"{ENGINE}:gone", f"{ENGINE}:rule"), use="a test")
    monkeypatch.setattr(seams, "REACHES", {"rule": reach})
    return module


def test_the_first_place_that_is_there_is_used(engine: ModuleType):
    assert find("rule")() == "rule"
    assert (probe("rule").state, probe("rule").detail) == ("intact", f"{ENGINE}:rule")
    engine.gone = lambda: "newer"
    assert find("rule")() == "newer"


def test_a_function_is_called_with_what_it_asks_for_and_has_moved_where_it_needs_more(engine: ModuleType):
    engine.rule = lambda width, mask=None: (width, mask)
    assert seams.call("rule", {"width": 8, "steps": 3}) == (8, None)
    with pytest.raises(MovedSeam, match="it needs width"):
        seams.call("rule", {"mask": 1})


def test_a_reach_whose_module_is_there_has_moved_and_is_named(engine: ModuleType):
    del engine.rule
    assert (probe("rule").state, present("rule")) == ("moved", False)
    with pytest.raises(MovedSeam, match=f"^moved seam: rule \\({ENGINE}:gone or {ENGINE}:rule\\)$"):
        find("rule")


def test_a_reach_whose_module_is_not_there_is_absent(engine: ModuleType, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys.modules["sglang"], "__path__", [], raising=False)
    monkeypatch.delitem(sys.modules, ENGINE)
    assert probe("rule").state == "absent"


def test_no_engine_at_all_is_an_import_error_not_a_moved_seam(engine: ModuleType, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(seams.REACHES, "rule", Reach(name="rule", places=("no_such_engine.srt:rule",), use="a test"))
    with pytest.raises(ModuleNotFoundError, match="no_such_engine"):
        probe("rule")


def test_replacing_reaches_every_module_that_imported_it_by_name(engine: ModuleType, monkeypatch: pytest.MonkeyPatch):
    importer, outsider = ModuleType("sglang.importer"), ModuleType("elsewhere")
    importer.rule = outsider.rule = engine.rule
    monkeypatch.setitem(sys.modules, "sglang.importer", importer)
    monkeypatch.setitem(sys.modules, "elsewhere", outsider)
    replace("rule", lambda original: lambda: original() + " replaced")
    assert engine.rule() == importer.rule() == "rule replaced"
    assert importer.rule is engine.rule
    assert outsider.rule() == "rule"


def test_replacing_wraps_a_fault_that_stands_under_the_name(engine: ModuleType, monkeypatch: pytest.MonkeyPatch):
    importer = ModuleType("sglang.importer")
    importer.rule = lambda: "fault"
    monkeypatch.setitem(sys.modules, "sglang.importer", importer)
    replace("rule", lambda original: lambda: original() + " seen")
    assert (engine.rule(), importer.rule()) == ("rule seen", "fault seen")


def test_a_field_goes_by_the_first_name_that_the_object_has():
    assert field(SimpleNamespace(num_tokens_per_bs=8), "captured width") == 8
    assert field(SimpleNamespace(num_tokens_per_bs=8, captured_req_width=33), "captured width") == 33
    assert field(SimpleNamespace(spec_info=None), "speculation input") is None


@given(st.sampled_from(sorted(FIELDS)))
def test_a_field_that_is_gone_is_named_with_the_names_it_had(name: str):
    with pytest.raises(MovedSeam) as moved:
        field(SimpleNamespace(), name)
    assert moved.value.name == name
    assert all(attribute in str(moved.value) for attribute in FIELDS[name])


@pytest.mark.parametrize("name", [*REACHES, *OLDER])
def test_every_reach_says_what_it_is_for(name: str):
    reach = {**REACHES, **OLDER}[name]
    assert reach.name == name
    assert reach.use
    assert all(":" in place for place in reach.places)
