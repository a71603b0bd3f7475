import json

import jsonschema
import pytest

from ddtree_doctor.triage import to_json
from ddtree_doctor.triage.as_json import __file__ as beside
from tests.triage.logs import ARGS, EXPECTED, IMA, LOGS, SIZES, diagnose, traceback

with open(beside.replace("as_json.py", "schema.json"), encoding="utf-8") as file:
    SCHEMA = json.load(file)


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "lines",
    [
        (ARGS, *traceback(SIZES)),
        ("sglang version: 0.5.23", ARGS, *traceback(SIZES)),
        traceback(IMA),
        traceback(SIZES)[:-1],
        ("hello",),
        ("[2026-05-11 12:00:23] Received sigquit from a child process.",),
        ("RuntimeError: \x1b[2J\udcff::error::",),
    ],
)
def test_every_report_keeps_to_the_schema(lines):
    report = diagnose(*(line.encode("utf-8", "replace").decode() for line in lines))

    jsonschema.validate(json.loads(to_json(report)), SCHEMA)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_report_on_every_fixture_keeps_to_the_schema(name):
    from ddtree_doctor.triage import triage

    jsonschema.validate(json.loads(to_json(triage([str(LOGS / name)]))), SCHEMA)


def test_the_object_holds_what_the_issue_lists():
    incident = json.loads(to_json(diagnose(ARGS, *traceback(SIZES))))["incidents"][0]

    assert incident["fault_class"] == "shape-width-mismatch"
    assert incident["algorithm"] == "DDTREE"
    assert {"value": 33, "meaning": "budget + 1: what target verify forwards"} in incident["numbers"]
    assert set(incident["evidence"][0]) == {"file", "line", "text"}
    for key in ("candidates", "echoes", "ruled_out", "next_step", "fix", "rules", "references"):
        assert key in incident
