import pytest

from ddtree_doctor.checks import rules


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.code)
def test_every_rule_is_explained_by_code_and_by_name(doctor, rule):
    assert doctor("explain", rule.code.lower()) == 0
    by_code = doctor.out
    assert doctor("explain", rule.slug()) == 0
    assert doctor.out == by_code
    assert rule.slug() in by_code
    assert "why" in by_code


@pytest.mark.parametrize("code", ["DD999", "DD1", "", "no-such-rule"])
def test_what_names_no_single_rule_is_refused(doctor, code):
    assert doctor("explain", code) == 2
    assert doctor.err.startswith("doctor: ")
