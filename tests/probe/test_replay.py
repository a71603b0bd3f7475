from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.errors import UsageError
from ddtree_doctor.probe.process import Outcome
from ddtree_doctor.probe.replay import behave, read_behaviours
from tests.report.sample import case, settings, verify_behaviour

OTHERS = (
    st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text()) | st.dictionaries(st.text(), st.text())
)


def test_each_role_that_was_answered_is_read_in_order():
    answered = [verify_behaviour(), replace(verify_behaviour(), role="draft", width=8)]
    outcome = Outcome(kind="ok", answer=[asdict(one) for one in answered])
    assert read_behaviours("DDTREE", outcome) == tuple(answered)


@pytest.mark.parametrize(
    "kind", ["failed", "killed", "silence", "garbage", "timeout", "exit", "output", "disk", "spawn"]
)
def test_every_other_end_of_a_probe_is_an_unknown_of_the_target(kind):
    (seen,) = read_behaviours("DDTREE", Outcome(kind=kind, why="what happened", log="a line\nthe last line\n"))
    assert (seen.role, seen.passes) == ("target_verify", ())
    assert seen.unknown.startswith("what happened")
    assert ("the last line" in seen.unknown) == (kind not in ("failed", "timeout"))


def test_without_speculation_the_target_decodes():
    (seen,) = read_behaviours("NONE", Outcome(kind="failed", why="no"))
    assert seen.role == "decode"


@given(OTHERS)
def test_any_other_answer_is_unknown_and_never_raises(answer):
    (seen,) = read_behaviours("NGRAM", Outcome(kind="ok", answer=answer))
    assert seen.unknown.startswith("the probe's answer")


def test_a_plugin_or_mutant_that_is_not_there_is_refused_before_anything_starts():
    launch = case().facts.launch
    with pytest.raises(UsageError, match="no such plugin"):
        behave(launch, settings(), plugin="ddtre")
    with pytest.raises(UsageError, match="no such mutant"):
        behave(launch, settings(), mutant="nothing")
