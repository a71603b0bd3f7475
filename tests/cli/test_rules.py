from ddtree_doctor.checks import rules


def test_the_list_has_every_rule(doctor):
    assert doctor("rules") == 0
    assert all(rule.code in doctor.out for rule in rules())


def test_the_list_as_json_has_the_metadata(doctor):
    assert doctor("rules", "--json", "-") == 0
    assert doctor.report["schema"] == "ddtree-doctor/rules/1"
    assert [row["code"] for row in doctor.report["rules"]] == [rule.code for rule in rules()]
    assert {"severity", "tier", "required", "title"} <= set(doctor.report["rules"][0])
