"""`doctor bisect`: what it refuses, what it prints and writes, and which status it ends with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ddtree_doctor.errors import DoctorError
from ddtree_doctor.reduction import search as search_module
from ddtree_doctor.reduction.axes import Axis
from ddtree_doctor.reduction.record import Found
from ddtree_doctor.reduction.search import Reduced, Search

SCENARIO = {
    "name": "tree/ddtree",
    "page_size": 1,
    "batches": [[{"slot": 0, "prefix": 1, "parents": [-1, 0], "tokens": [3, 4], "pads": 5, "pad_token": 0}]],
}
FOUND = Found(
    fired={"DD302": "1 of 1 passes differ", "DD301": "another"},
    code="DD302",
    before=16,
    scenarios=(SCENARIO,),
    tests=12,
)
REDUCED = Reduced(
    found=FOUND,
    sizes=(1,),
    axes=(Axis(name="graph", verdict="the eager forward fails by itself"), Axis(name="backend", verdict="triton")),
    text="print('the case')\n",
)


@pytest.fixture
def ngram(launch):
    return launch("ngram-qwen2.5.sh")


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch, tmp_path):
    """What the search comes to, in place of its processes; and the searches that were asked for."""
    asked: list[Search] = []
    monkeypatch.chdir(tmp_path)

    def answer(found: Reduced, *, fails_alone: bool = True):
        monkeypatch.setattr(search_module.Search, "run", lambda self: asked.append(self) or found)
        monkeypatch.setattr(search_module.Search, "confirm", lambda self, file: fails_alone)
        return asked

    return answer


@pytest.mark.parametrize("out", ["-", "no/such/folder/case.py", "."])
def test_a_file_that_cannot_be_written_is_refused_before_anything_runs(doctor, ngram, searched, out):
    asked = searched(REDUCED)
    assert doctor("bisect", ngram, "--out", out) == 2
    assert "is no place for a file" in doctor.err
    assert asked == []


def test_a_fault_is_reported_with_its_case_and_axes_and_written(doctor, ngram, searched, tmp_path):
    searched(REDUCED)
    assert doctor("bisect", ngram) == 1
    file = tmp_path / "ddtree-bisect-DD302.py"
    assert file.read_text() == REDUCED.text
    assert doctor.out.startswith("DD302 tree-row-differs-from-its-path: 1 of 1 passes differ\n")
    assert "1 of 16 scenarios (tree/ddtree), found in 12 runs" in doctor.out
    assert "also fire       DD301" in doctor.out
    assert "the eager forward fails by itself" in doctor.out
    assert "python ddtree-bisect-DD302.py" in doctor.out


def test_where_nothing_fails_it_says_so_and_writes_nothing(doctor, ngram, searched, tmp_path):
    searched(Reduced(found=Found(before=16, tests=1)))
    assert doctor("bisect", ngram) == 0
    assert doctor.out.startswith("nothing fails in 16 scenarios; no file")
    assert list(tmp_path.iterdir()) == []


def test_another_rule_than_the_one_asked_for_is_named(doctor, ngram, searched):
    searched(Reduced(found=Found(before=16, fired={"DD301": "…"}, tests=1)))
    assert doctor("bisect", ngram, "--code", "DD302") == 0
    assert "though DD301 fire (--code)" in doctor.out


def test_a_file_that_is_there_is_kept_unless_force_is_given(doctor, ngram, searched, tmp_path):
    searched(REDUCED)
    file = tmp_path / "mine.py"
    file.write_text("mine")
    assert doctor("bisect", ngram, "--out", file) == 2
    assert "is there already" in doctor.err
    assert file.read_text() == "mine"
    assert doctor("bisect", ngram, "--out", file, "--force") == 1
    assert file.read_text() == REDUCED.text


def test_a_file_of_the_default_name_is_kept_too(doctor, ngram, searched, tmp_path):
    searched(REDUCED)
    (tmp_path / "ddtree-bisect-DD302.py").write_text("mine")
    assert doctor("bisect", ngram) == 2
    assert (tmp_path / "ddtree-bisect-DD302.py").read_text() == "mine"


def test_a_written_file_that_does_not_fail_is_no_verdict(doctor, ngram, searched):
    searched(REDUCED, fails_alone=False)
    assert doctor("bisect", ngram) == 3
    assert "does not fail when it is run by itself" in doctor.err


def test_what_was_asked_for_reaches_the_search(doctor, ngram, searched):
    (asked,) = (searched(REDUCED),)
    doctor(
        "bisect", ngram, "--code", "DD302", "--scenarios", "tree/,grow", "--mutant", "mask_rebound", "--timeout", "9"
    )
    (one,) = asked
    assert (one.code, one.only, one.mutant, one.deadline) == ("DD302", ("tree/", "grow"), "mask_rebound", 9.0)
    assert one.case.facts.launch.flag("speculative_algorithm").value == "NGRAM"


def test_a_command_judges_in_place_of_the_rules(doctor, ngram, searched):
    (asked,) = (searched(replace(REDUCED, found=replace(FOUND, code="", fired={}))),)
    assert doctor("bisect", ngram, "--check", "./judge.sh") == 1
    assert asked[0].check == "./judge.sh"
    assert doctor.out.startswith("fails by './judge.sh'")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--code", "DD201"), "--code DD201: is none of DD301, DD302, DD306, DD307, DD308"),
        (("--sglang", "0.5.23"), "leave --sglang out"),
        (("--mutant", "nothing"), "mutant nothing: there is no such mutant"),
        (("--plugin", "nothing"), "--plugin nothing: there is no such plugin"),
        (("--timeout", "0"), "--timeout"),
    ],
)
def test_what_cannot_be_done_is_a_usage_error(doctor, ngram, words, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert doctor("bisect", ngram, *words) == 2
    assert says in doctor.err
    assert "Traceback" not in doctor.err


def test_two_launches_are_one_too_many(doctor, tmp_path):
    file = tmp_path / "two.sh"
    line = "python3 -m sglang.launch_server --model-path m --speculative-algorithm NGRAM"
    file.write_text(f"{line}\n{line} --speculative-num-draft-tokens 7\n")
    assert doctor("bisect", file) == 2
    assert "2 launches were given; bisect narrows one" in doctor.err


def test_a_probe_without_an_answer_is_no_verdict(doctor, ngram, monkeypatch):
    def gives_up(self):
        raise DoctorError("no verdict: timed out after 9 s")

    monkeypatch.setattr(search_module.Search, "run", gives_up)
    assert doctor("bisect", ngram) == 3
    assert "timed out after 9 s" in doctor.err


def test_the_help_tells_what_a_check_command_is_given_and_may_answer(doctor):
    assert doctor("bisect", "--help") == 0
    assert "125" in doctor.out
    assert "last argument" in doctor.out
