"""What a search refuses before anything starts, and one that a user's command judges."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ddtree_doctor.errors import UsageError
from ddtree_doctor.reduction.search import Search
from tests.mutants.observed import Group, case_of

LAUNCH = "python3 -m sglang.launch_server --model-path target --attention-backend triton"
NGRAM = f"{LAUNCH} --speculative-algorithm NGRAM --speculative-num-draft-tokens 7"


@pytest.mark.parametrize(
    ("launch", "says"),
    [
        (f"{LAUNCH} --speculative-algorithm DSPARK", "does not cover DSPARK: verify was not replayed"),
        (f"{LAUNCH} --speculative-algorithm UNO", "does not cover UNO: verify was not replayed"),
        (f"{NGRAM} --disable-cuda-graph", "CUDA graphs are off"),
    ],
)
def test_a_launch_whose_verify_passes_are_not_replayed_is_refused(launch, says):
    with pytest.raises(UsageError, match=says):
        Search(case=case_of(Group(launch))).run()


JUDGE = """
import ast, sys
tree = ast.parse(open(sys.argv[1]).read())
case = next(ast.literal_eval(one.value) for one in tree.body if ast.unparse(one).startswith("CASE = "))
sys.exit(any(len(batch) >= 2 for scenario in case["scenarios"] for batch in scenario["batches"]))
"""


@pytest.mark.engine
@pytest.mark.slow
def test_a_command_s_verdict_is_what_is_reduced(tmp_path: Path):
    judge = tmp_path / "judge.py"
    judge.write_text(JUDGE)
    search = Search(case=case_of(Group(NGRAM)), check=f"{sys.executable} {judge}", only=("grow",), name="case.py")
    found = search.run()
    (one,) = found.scenarios
    assert [batch.size for batch in one.batches] == [2]
    assert [request.tree.drafted for request in one.batches[0].requests] == [0, 0]
    assert "CASE = " in found.text
