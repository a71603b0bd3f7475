"""The rules about scenarios, asked of one behaviour."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ddtree_doctor.reduction.record import CODES
from ddtree_doctor.reduction.verdict import fired, named
from ddtree_doctor.replay.record import Access, Gap, Pass
from tests.reduction.test_axes import APART, SAME, behaviour
from tests.report.sample import case

FINE = Pass(scenario="s", step=0, bs=1, hit=True, captured_bs=1, key="1", replay=SAME, path=SAME)
STRAY = Access(where="k, x", access="load", offset=8, size=8, scenario="s")
WRONG = {
    "DD301": {"passes": (replace(FINE, replay=APART),)},
    "DD302": {"passes": (replace(FINE, path=Gap(largest=None, scale=1.0, spread=0.0)),)},
    "DD306": {"passes": (replace(FINE, hit=False, replay=None),)},
    "DD307": {"passes": (FINE,), "accesses": (STRAY,)},
    "DD308": {"passes": (replace(FINE, hit=False, replay=None, error="IndexError: 9"),)},
}


@pytest.mark.parametrize("code", sorted(CODES))
def test_each_rule_that_is_reduced_fires_for_what_it_is_about_alone(code):
    assert set(fired(case(), replace(behaviour(), **WRONG[code]))) == {code}


def test_nothing_fires_where_nothing_is_wrong_or_nothing_ran():
    assert fired(case(), behaviour()) == {}
    assert fired(case(), behaviour(unknown="did not start")) == {}


def test_a_rule_is_named_with_its_code():
    assert named("DD302") == "DD302 tree-row-differs-from-its-path"
