from dataclasses import replace

import pytest

from ddtree_doctor.triage.report import SCHEMA, TriageReport

EMPTY = TriageReport(verdict="clean", files=("a.log",), lines=1, bytes=2, incidents=())


@pytest.mark.parametrize(("verdict", "code"), [("clean", 0), ("fault", 1), ("none", 3)])
def test_the_exit_status_follows_from_the_verdict(verdict, code):
    assert replace(EMPTY, verdict=verdict).exit_code == code


def test_the_object_names_schema_and_tool_and_keeps_excerpts_for_the_bundle():
    found = EMPTY.to_dict()

    assert found["schema"] == SCHEMA
    assert found["tool"]["name"] == "ddtree-doctor"
    assert "excerpts" not in found
