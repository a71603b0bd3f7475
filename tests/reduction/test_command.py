"""A user's command as the judge: the exit statuses of `git bisect run`, and what says nothing of a case."""

from __future__ import annotations

import pytest

from ddtree_doctor.errors import DoctorError
from ddtree_doctor.reduction.command import Command


def judged(command: str, deadline: float = 10.0) -> bool:
    return Command(command=command, text=lambda some: "the case", deadline=deadline)(())


@pytest.mark.parametrize(("status", "fails"), [(0, False), (125, False), (1, True), (2, True), (124, True)])
def test_an_exit_status_is_a_verdict(status, fails):
    assert judged(f"exit {status};") is fails


def test_the_command_is_given_the_file_of_the_case():
    assert judged("grep -q 'the case'") is False
    assert judged("grep -q 'another case'") is True


@pytest.mark.parametrize("status", [126, 127, 130, 255])
def test_a_command_that_did_not_run_ends_the_search(status):
    with pytest.raises(DoctorError, match=f"ended with status {status}; 0 is good"):
        judged(f"exit {status};")


def test_a_command_that_is_killed_ends_the_search():
    with pytest.raises(DoctorError, match="ended with status"):
        judged("kill -9 $$;")


def test_a_command_without_an_end_is_stopped():
    with pytest.raises(DoctorError, match=r"took longer than 0.2 s; see --timeout"):
        judged("sleep 20;", deadline=0.2)
