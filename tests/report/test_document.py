import json
from pathlib import Path

import jsonschema
from hypothesis import given

import ddtree_doctor.report
from tests.report.hostile import texts
from tests.report.sample import RULES, DraftUnread, NothingWrong, report

SCHEMA = json.loads((Path(ddtree_doctor.report.__file__).parent / "schema.json").read_text())


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_report_validates_and_blocks():
    made = report()
    jsonschema.validate(made, SCHEMA)
    assert (made["verdict"], made["exit_code"]) == ("blocked", 1)


@given(texts)
def test_a_report_on_any_text_validates_and_survives_json(text):
    made = report(text)
    jsonschema.validate(made, SCHEMA)
    assert json.loads(json.dumps(made)) == made


def test_counts_add_up_and_every_check_appears():
    made = report()
    assert made["counts"] == {"selected": 5, "ran": 4, "passed": 1, "failed": 2, "unknown": 1, "skipped": 1}
    assert [check["code"] for check in made["checks"]] == [rule.code for rule in RULES]
    assert next(c["reason"] for c in made["checks"] if c["code"] == "DD401").startswith("needs tier replay-gpu")


def test_findings_come_most_severe_first():
    assert [finding["severity"] for finding in report()["findings"]] == ["error", "warning"]


def test_the_ledger_sets_observed_beside_expected():
    verify, draft = report()["ledger"]
    assert (verify["tokens_per_bs"], verify["expected_tokens_per_bs"]) == (8, 33)
    assert (draft["tokens_per_bs"], draft["expected_tokens_per_bs"]) == (None, None)
    assert draft["unknown"]


def test_a_value_that_cannot_be_read_is_null_and_named():
    launch = report()["launches"][0]
    assert launch["tp"] is None
    assert "eight" in launch["unknown"]["tp"]


def test_an_unknown_in_a_required_check_is_not_ready_and_says_so():
    class Required(DraftUnread):
        """It must be known."""

        code = "DD114"
        required = True

    made = report(rules=(NothingWrong, Required))
    assert (made["verdict"], made["exit_code"]) == ("unknown", 1)
    assert [(f["code"], f["status"]) for f in made["findings"]] == [("DD114", "unknown")]


def test_an_unknown_elsewhere_leaves_the_launch_ready():
    made = report(rules=(NothingWrong, DraftUnread))
    assert (made["verdict"], made["exit_code"]) == ("ready", 0)
