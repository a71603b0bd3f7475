"""`doctor replay`: where it runs, what it refuses, and what it reports and records of what a GPU's probes saw."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ddtree_doctor.facts import host as host_module
from ddtree_doctor.facts.model import Gpu
from ddtree_doctor.facts.nvml import Seen
from ddtree_doctor.probe import replay_gpu, whole_engine
from ddtree_doctor.replay.arch import ArchLedger, read_arch
from ddtree_doctor.replay.engine_run import EngineRun, Text
from ddtree_doctor.replay.record import Access, Behaviour, Gap, Pass, Response

SAME = Gap(largest=0.0, scale=4.0, spread=0.0)
APART = Gap(largest=3.0, scale=4.0, spread=0.0)
SEEN = Behaviour(
    host="gpu",
    algorithm="NGRAM",
    role="target_verify",
    backend="triton",
    dtype="bfloat16",
    page_size=1,
    width=16,
    passes=(Pass(scenario="captured/2", step=0, bs=2, hit=True, captured_bs=2, key="2", replay=SAME, path=SAME),),
    responses=(Response(name="the tree mask", must="change", gap=APART),),
    launches=3,
)


@pytest.fixture
def h200(monkeypatch: pytest.MonkeyPatch):
    """An H200 in this machine, as the driver tells of one."""
    seen = Seen(gpus=(Gpu(name="NVIDIA H200", capability=(9, 0), memory_mib=143771),), driver="580.159.04")
    monkeypatch.setattr(host_module, "see_gpus", lambda: seen)


@pytest.fixture
def probes(monkeypatch: pytest.MonkeyPatch):
    """What the probes see, in place of their processes; and what they were asked."""
    asked: dict[str, object] = {}

    def answer(*behaviours: Behaviour, reports: tuple[Access, ...] = ()):
        def behave_gpu(launch, settings, **options):
            asked.update(options)
            return behaviours

        def sanitize(launch, settings, tools, **options):
            return tuple(replace(SEEN, sanitizer=tool, reports=reports) for tool in tools)

        monkeypatch.setattr(replay_gpu, "behave_gpu", behave_gpu)
        monkeypatch.setattr(replay_gpu, "sanitize", sanitize)
        return asked

    return answer


@pytest.fixture
def ngram(launch):
    return launch("ngram-qwen2.5.sh")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--host", "gpu"), "--host gpu: no GPU here"),
        (("--backends", "triton"), "--backends: needs a GPU"),
        (("--record", "x.json"), "--record: needs a GPU"),
        (("--sanitizer",), "--sanitizer: needs a GPU"),
        (("--timeout", "0"), "--timeout"),
        (("--jobs", "0"), "--jobs"),
    ],
)
def test_what_needs_a_gpu_is_a_usage_error_without_one(doctor, ngram, words, says, monkeypatch):
    monkeypatch.setattr(host_module, "see_gpus", lambda: Seen(unknown={"gpus": "no NVIDIA driver answers"}))
    assert doctor("replay", ngram, *words) == 2
    assert says in doctor.err
    assert "Traceback" not in doctor.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--backends", "tritn"), "--backends tritn: is none of triton"),
        (("--budget", "0"), "--budget"),
        (("--page-size", "x"), "--page-size"),
    ],
)
def test_what_is_no_backend_budget_or_page_size_is_refused(doctor, ngram, h200, words, says):
    assert doctor("replay", ngram, *words) == 2
    assert says in doctor.err


def test_a_clean_run_is_ready_and_counts_its_passes(doctor, ngram, h200, probes):
    probes(SEEN)
    assert doctor("replay", ngram, "--json", "-") == 0
    report = doctor.report
    assert (report["verdict"], report["tier"]) == ("ready", "replay-gpu")
    assert {one["code"][:3] for one in report["checks"]} == {"DD4"}


def test_every_combination_that_is_named_is_asked_for(doctor, ngram, h200, probes):
    asked = probes(SEEN)
    doctor("replay", ngram, "--backends", "triton,fa3", "--page-size", "1,16", "--budget", "8,32", "--jobs", "3")
    assert len(asked["asked"]) == 8
    assert asked["at_once"] == 3


def test_a_replay_that_differs_blocks(doctor, ngram, h200, probes):
    bad = replace(SEEN.passes[0], replay=APART)
    probes(replace(SEEN, passes=(bad,)))
    assert doctor("replay", ngram, "--json", "-") == 1
    assert [one["code"] for one in doctor.report["findings"]] == ["DD401"]


def test_a_cell_that_did_not_run_is_no_pass(doctor, ngram, h200, probes):
    probes(SEEN, replace(SEEN, backend="fa3", passes=(), unknown="not installed: ImportError"))
    assert doctor("replay", ngram, "--json", "-") == 1
    assert doctor.report["verdict"] == "unknown"
    assert "not installed" in doctor.report["findings"][0]["message"]


def test_what_the_sanitizer_reports_is_a_finding(doctor, ngram, h200, probes):
    stray = Access(where="k (k.py:1)", access="invalid global write of 8 bytes", offset=528, size=528, scenario="s")
    probes(SEEN, reports=(stray,))
    assert doctor("replay", ngram, "--sanitizer", "--json", "-") == 1
    tools = [one["evidence"]["tool"] for one in doctor.report["findings"] if one["code"] == "DD410"]
    assert tools == ["memcheck", "initcheck", "racecheck"]


def test_a_recorded_run_holds_each_cell_with_its_verdict(doctor, ngram, h200, probes, tmp_path):
    bad = replace(SEEN, page_size=16, passes=(replace(SEEN.passes[0], replay=APART),))
    probes(SEEN, bad, replace(SEEN, backend="fa3", passes=(), unknown="not installed"))
    file = tmp_path / "sm_90.json"
    doctor("replay", ngram, "--record", file)
    ledger = read_arch(file.read_text())
    found = {(cell.backend, cell.page_size): (cell.verdict, cell.findings) for _, cell in ledger.cells()}
    assert found == {
        ("triton", 1): ("passed", ()),
        ("triton", 16): ("failed", ("DD401",)),
        ("fa3", 1): ("unknown", ()),
    }
    (run,) = ledger.runs
    assert (ledger.arch, run.gpu, run.driver) == ("sm_90", "NVIDIA H200", "580.159.04")


def test_a_second_run_is_added_to_the_first(doctor, ngram, h200, probes, tmp_path):
    file = tmp_path / "sm_90.json"
    for width in (16, 33):
        probes(replace(SEEN, width=width))
        doctor("replay", ngram, "--record", file)
    assert [cell.width for _, cell in read_arch(file.read_text()).cells()] == [33, 16]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (ArchLedger(arch="sm_80").to_json(), "holds what was measured on sm_80"),
        (json.dumps({"schema": "other"}), "cannot be added to"),
        ("\x00", "cannot be added to"),
    ],
)
def test_a_file_of_another_kind_is_left_as_it_is(doctor, ngram, h200, probes, tmp_path, text, says):
    probes(SEEN)
    file = tmp_path / "ledger.json"
    file.write_text(text)
    assert doctor("replay", ngram, "--record", file) == 2
    assert says in doctor.err
    assert file.read_text() == text


def test_the_recorded_command_is_one_that_can_be_given_again(doctor, ngram, h200, probes, tmp_path, monkeypatch):
    probes(SEEN)
    words = ["replay", "ngram.sh", "--budget", "32", "--json", "/somewhere/x", "--record", "/somewhere/y", "--verbose"]
    monkeypatch.setattr("sys.argv", ["/bin/doctor", *words])
    doctor("replay", ngram, "--record", tmp_path / "sm_90.json")
    (run,) = read_arch((tmp_path / "sm_90.json").read_text()).runs
    assert run.command == "doctor replay ngram.sh --budget 32 --record sm_90.json --verbose"


def engine_run(**fields):
    plain = {"host": "gpu", "algorithm": "NONE", "speculation": False, "graphs": False, "number": 1}
    base = EngineRun(**plain, backend="triton", dtype="float32", texts=(Text(tokens=(4, 5)),), spread=0.0)
    return replace(base, **fields)


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch):
    """What whole engines say, in place of their processes; and what they were asked."""
    asked: list[dict[str, object]] = []

    def answer(*runs: EngineRun):
        def compare(launch, settings, **options):
            asked.append(options)
            return runs

        monkeypatch.setattr(whole_engine, "compare", compare)
        return asked

    return answer


SAID = (engine_run(), engine_run(number=2), engine_run(graphs=True, replays=4))


def test_whole_engines_run_only_where_they_are_asked_for(doctor, ngram, h200, probes, engines):
    probes(SEEN)
    asked = engines(*SAID)
    assert doctor("replay", ngram, "--json", "-") == 0
    assert asked == []
    assert doctor.report["engine_runs"] == []
    skipped = [one["code"] for one in doctor.report["checks"] if "--engine" in one["reason"]]
    assert skipped == ["DD411", "DD412"]


def test_whole_engines_that_say_the_same_are_ready_with_their_accept_length(doctor, ngram, h200, probes, engines):
    probes(SEEN)
    drafted = {"algorithm": "NGRAM", "speculation": True, "accept_length": 5.5}
    asked = engines(*SAID, engine_run(**drafted), engine_run(**drafted, graphs=True, replays=2))
    assert doctor("replay", ngram, "--engine", "--jobs", "3", "--json", "-") == 0
    assert (asked[0]["host"], asked[0]["at_once"]) == ("gpu", 3)
    found = [(one["agreement"], one["accept_length"]) for one in doctor.report["engine_runs"]]
    assert found == [("trusted", None), ("same", None), ("same", None), ("same", 5.5), ("same", 5.5)]


def test_other_tokens_with_speculation_block(doctor, ngram, h200, probes, engines):
    probes(SEEN)
    other = engine_run(algorithm="NGRAM", speculation=True, texts=(Text(tokens=(4, 9)),))
    engines(*SAID, other)
    assert doctor("replay", ngram, "--engine") == 1
    assert "DD411" in doctor.out
    assert "differ from" in doctor.out


def test_an_engine_that_did_not_run_is_no_pass(doctor, ngram, h200, probes, engines):
    probes(SEEN)
    engines(*SAID, engine_run(algorithm="NGRAM", speculation=True, texts=(), unknown="RuntimeError: no kernel"))
    assert doctor("replay", ngram, "--engine", "--json", "-") == 1
    assert doctor.report["verdict"] == "unknown"
    assert "RuntimeError: no kernel" in doctor.report["findings"][0]["message"]
