import pytest

from ddtree_doctor.errors import UsageError
from ddtree_doctor.launch.scope import MAX_WORDS, Array, Budget, Scope
from ddtree_doctor.launch.secrets import Vault
from ddtree_doctor.launch.words import Field, Piece


def scope(**variables):
    made = Scope(Budget("run.sh"), Vault())
    for name, text in variables.items():
        made.set(name, (Piece(text, 1),))
    return made


def test_branches_that_agree_are_known_and_others_are_not():
    left, right, base = scope(A="1", B="2"), scope(A="1", B="3"), scope()
    base.merge([left, right], "it depends")
    assert base.text("A") == "1"
    assert base.text("B") is None
    assert base.variables["B"] == (Piece("2", 1, why="it depends"),)


def test_a_secret_is_never_stored():
    made = scope(API_KEY="canary-canary")
    made.set("MY_TOKENS", (Piece("8", 1),))
    made.set("A_SECRET", Array((Field.plain("canary-canary"),)))
    assert made.text("API_KEY") == "***"
    assert made.text("MY_TOKENS") == "8"
    assert "canary" not in str(made.variables)


def test_only_exported_variables_reach_a_command():
    made = scope(A="1", B="2")
    made.exported.add("A")
    assert list(made.environment()) == ["A"]


def test_variables_for_programs_that_stay_in_the_shell_are_named():
    made = scope(SGLANG_X="1", TP="2", CUDA_VISIBLE_DEVICES="0")
    made.used.add("CUDA_VISIBLE_DEVICES")
    assert made.unexported() == ("SGLANG_X",)


def test_a_text_that_runs_without_end_is_refused():
    with pytest.raises(UsageError, match=r"^run.sh: it runs more than"):
        Budget("run.sh").step(MAX_WORDS + 1)
    with pytest.raises(UsageError, match=r"^run.sh: its variables expand"):
        Budget("run.sh").produce(10**12)
