import json

from hypothesis import given

from ddtree_doctor.report.sarif import to_sarif
from tests.report.hostile import texts
from tests.report.sample import report


def run(text="plain"):
    return json.loads(to_sarif(report(text)))["runs"][0]


def test_results_name_declared_rules_and_point_at_the_flag():
    made = run()
    declared = [rule["id"] for rule in made["tool"]["driver"]["rules"]]
    assert declared == sorted(declared)
    assert {result["ruleId"] for result in made["results"]} <= set(declared)
    place = made["results"][0]["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("launch.sh", 4)


def test_a_fingerprint_does_not_move_with_the_numbers():
    first, second = report(), report()
    second["findings"][0]["message"] = "other numbers"
    prints = [json.loads(to_sarif(one))["runs"][0]["results"][0]["partialFingerprints"] for one in (first, second)]
    assert prints[0] == prints[1]


@given(texts)
def test_any_text_gives_lines_from_one_and_levels_of_the_standard(text):
    for result in run(text)["results"]:
        assert result["level"] in ("error", "warning", "note")
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] >= 1
