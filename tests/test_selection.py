import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.errors import UsageError
from ddtree_doctor.selection import selected
from tests.report.sample import RULES

codes = st.lists(st.sampled_from([rule.code for rule in RULES] + ["DD1", "dd2", "DD"]), max_size=3)


@given(codes, codes)
def test_a_rule_runs_if_it_is_selected_and_not_ignored(select, ignore):
    def named(rule, prefixes):
        return any(rule.code.startswith(prefix.upper()) for prefix in prefixes)

    expected = tuple(r for r in RULES if (not select or named(r, select)) and not named(r, ignore))
    if not expected:
        with pytest.raises(UsageError, match="none is selected"):
            selected(RULES, select, ignore)
        return
    assert selected(RULES, select, ignore) == expected


@pytest.mark.parametrize("code", ["DD999", "", "201", "D D"])
def test_a_code_that_names_no_rule_is_refused(code):
    with pytest.raises(UsageError, match="no rule has this code"):
        selected(RULES, [code])


def test_a_misspelt_code_is_answered_with_near_ones():
    with pytest.raises(UsageError, match="DD201"):
        selected(RULES, ["DD202"])
