import json

import pytest

from ddtree_doctor.cli.main import main
from ddtree_doctor.engine.source import read_engine

REQUIRED = {
    "NONE/decode",
    *(
        f"{name}/{role}"
        for name in ("EAGLE", "EAGLE3", "STANDALONE")
        for role in ("target_verify", "draft", "draft_extend")
    ),
    "NGRAM/target_verify",
    "DFLASH/target_verify",
    "DFLASH/draft",
    "DDTREE/target_verify",
    "DDTREE/draft",
}


@pytest.mark.engine
@pytest.mark.slow
def test_every_algorithm_and_role_of_the_engine_is_as_wide_as_it_must_be(tmp_path, capsys):
    file = tmp_path / "matrix.json"
    status = main(["matrix", "--plugin", "ddtree", "--json", str(file)])
    report = json.loads(file.read_text())
    assert status == 0, report["findings"]
    rows = {f"{row['algorithm']}/{row['role']}": row for row in report["ledger"]}
    assert set(rows) >= REQUIRED
    named = {name.split("/")[0] for name in rows}
    assert named >= set(read_engine().algorithms) - {"NEXTN"}
    for name, row in rows.items():
        assert row["unknown"] or row["tokens_per_bs"] == row["expected_tokens_per_bs"], name
    assert not [name for name in REQUIRED if rows[name]["unknown"]]
    assert "tokens per request" in capsys.readouterr().out


def test_an_engine_that_is_only_a_source_tree_cannot_be_started(doctor):
    assert doctor("matrix", "--sglang", "0.5.23") == 2
    assert "install it in this environment" in doctor.err
