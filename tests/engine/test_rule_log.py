"""The capture rule: called as ever, and noted with what it was given."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.slow]


def test_each_call_of_the_rule_is_noted_with_what_it_was_given(inside: dict[str, Any]):
    sizes, base, given = inside["rule"]["gathering"]
    assert (base, given["width"], given["pool"], given["attn_tp"], given["gather"]) == (4, 5, 9, 4, True)
    assert sizes == [4, 8, 12]
    sizes, base, given = inside["rule"]["plain"]
    assert (base, given["width"], given["gather"]) == (1, 1, False)
    assert sizes == [1, 2, 3, 4, 5, 6, 7, 8, 9]
