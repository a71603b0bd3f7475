"""Roles: which runner plays which."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.contract.widths import WIDTHS
from ddtree_doctor.engine.roles import ROLES, expected, roles_of

PLAIN = SimpleNamespace()


@pytest.mark.parametrize(
    ("mode", "on_draft", "roles"),
    [
        ("DECODE", False, ("decode",)),
        ("TARGET_VERIFY", False, ("target_verify",)),
        ("DECODE", True, ("draft",)),
        ("TARGET_VERIFY", True, ("draft",)),
        ("DRAFT_EXTEND_V2", True, ("draft_extend",)),
        ("DRAFT_EXTEND_V2", False, ()),
        ("EXTEND", False, ()),
    ],
)
def test_worker_and_mode_tell_the_role(mode: str, on_draft: bool, roles: tuple[str, ...]):
    assert roles_of(PLAIN, mode, on_draft=on_draft) == roles


@pytest.mark.parametrize(
    ("tree_draft", "tree", "roles"),
    [
        (True, True, ("draft",)),
        (False, True, ("target_verify",)),
        (False, False, ("target_verify", "draft")),
    ],
)
def test_uno_drafts_with_its_target(tree_draft: bool, tree: bool, roles: tuple[str, ...]):
    runner = SimpleNamespace(_tree_draft_mode=tree_draft, _tree_mode=tree)
    assert roles_of(runner, "TARGET_VERIFY", on_draft=False) == roles


def test_the_roles_are_those_of_the_contract():
    assert {name: set(roles) for name, roles in ROLES.items()} == {name: set(roles) for name, roles in WIDTHS.items()}


@given(st.text())
def test_an_algorithm_that_is_not_known_is_expected_to_verify(name: str):
    assert expected(name) == ROLES.get(name, ("target_verify",))
