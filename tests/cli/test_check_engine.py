"""`doctor check` with the installed engine's own workers: the founding story, end to end."""

import json
from pathlib import Path

import jsonschema
import pytest

import ddtree_doctor.report
from ddtree_doctor.cli.main import main
from tests.cli.conftest import LAUNCHES

pytestmark = [pytest.mark.engine, pytest.mark.slow]

SCHEMA = json.loads((Path(ddtree_doctor.report.__file__).parent / "schema.json").read_text())
FOUNDING = str(LAUNCHES / "ddtree-b8-budget32.sh")


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Exit status and report of one run for each plugin, made once."""
    made = {}

    def run(plugin, tier):
        if (plugin, tier) not in made:
            file = tmp_path_factory.mktemp("report") / "report.json"
            status = main(["check", FOUNDING, "--plugin", plugin, "--tier", tier, "--json", str(file)])
            made[plugin, tier] = status, json.loads(file.read_text())
        return made[plugin, tier]

    return run


def widths(report):
    return {f"{row['algorithm']}/{row['role']}": row["tokens_per_bs"] for row in report["ledger"]}


def test_ddtree_verifies_budget_and_root_and_drafts_its_block_on_the_engine_s_own_runners(checked):
    status, report = checked("ddtree", "replay-cpu")
    jsonschema.validate(report, SCHEMA)
    assert (status, report["verdict"]) == (0, "ready"), report["findings"]
    assert widths(report) == {"DDTREE/target_verify": 33, "DDTREE/draft": 8}
    assert all(row["tokens_per_bs"] == row["expected_tokens_per_bs"] for row in report["ledger"])


def test_its_passes_were_replayed_and_every_behaviour_rule_was_judged(checked):
    _, report = checked("ddtree", "replay-cpu")
    behaviour = [check for check in report["checks"] if check["tier"] == "replay-cpu"]
    assert {check["status"] for check in behaviour} <= {"passed", "skipped"}
    assert {"DD301", "DD302", "DD303", "DD304", "DD306", "DD307", "DD308"} <= {
        check["code"] for check in behaviour if check["status"] == "passed"
    }


def test_the_founding_fault_is_blocked_with_both_numbers_and_the_message_of_the_day(checked):
    status, report = checked("ddtree-width-from-block", "shape")
    jsonschema.validate(report, SCHEMA)
    assert (status, report["verdict"]) == (1, "blocked")
    found = next(finding for finding in report["findings"] if finding["code"] == "DD201")
    assert (found["severity"], found["subject"]) == ("error", "DDTREE/target_verify")
    assert (found["evidence"]["observed"], found["evidence"]["expected"]) == (8, 33)
    assert "decode_cuda_graph_runner.py" in found["evidence"]["source"]
    assert "The size of tensor a (8) must match the size of tensor b (33)" in found["message"]


def test_what_was_substituted_is_stated(checked):
    _, report = checked("ddtree-width-from-block", "shape")
    text = " ".join(report["launches"][0]["substituted"])
    assert all(word in text for word in ("CPU", "Triton's interpreter", "tiny", "rank 0 of 8"))
