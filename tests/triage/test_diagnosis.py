"""From a log to its report: what the issue asks for by example, and the laws that hold for every log."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ddtree_doctor.triage import to_json, to_markdown, to_text, triage, triage_blocks
from ddtree_doctor.triage.bundle import bundle
from tests.test_redaction import CANARY, POSITIONS
from tests.triage.logs import (
    ARGS,
    EXPECTED,
    IMA,
    LOGS,
    SIZES,
    WRAPPINGS,
    Entry,
    compose,
    diagnose,
    facts,
    first,
    traceback,
)

READY = "[2026-05-11 12:00:20 TP0] The server is fired up and ready to roll!"
CAPTURED = (
    "[2026-05-11 12:00:09 TP0] Capture target verify CUDA graph begin. backend=full, num_tokens_per_req=8",
    "[2026-05-11 12:00:19 TP0] Capture target verify CUDA graph end. bs=[1, 2, 4, 8, 16, 32, 48], elapsed=9.0 s",
)
BATCH_33 = "[2026-05-11 12:00:21 TP0] Decode batch, #running-req: 33, #token: 900, token usage: 0.1"
CASES = {case["id"]: case for case in facts()}
SOME = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])


def test_the_founding_fault_with_its_configuration_is_high_and_explained():
    note = first(ARGS, *CAPTURED, READY, *traceback(SIZES))

    assert (note.fault_class, note.confidence, note.algorithm) == ("shape-width-mismatch", "high", "DDTREE")
    meanings = {number.value: number.meaning for number in note.numbers}
    assert "block size" in meanings[8]
    assert "budget + 1" in meanings[33]
    assert note.rules[0] == "DD201"
    assert any("verify is budget + 1" in fix for fix in note.fix)


def test_without_its_configuration_it_is_the_same_class_less_sure_and_says_what_is_missing():
    note = first(*traceback(SIZES))

    assert note.fault_class == "shape-width-mismatch"
    assert note.confidence in ("medium", "low")
    assert any("server_args" in what for what in note.missing)


@pytest.mark.parametrize("algorithm", ["DFLASH", "DDTREE"])
def test_with_a_captured_maximum_of_eight_and_33_running_it_is_another_fault(algorithm):
    args = ARGS.replace("tp_size=8", "tp_size=8, cuda_graph_max_bs=8").replace("DDTREE", algorithm)
    args = args if algorithm == "DDTREE" else args.replace("speculative_ddtree_budget=32, ", "")

    note = first(args, READY, BATCH_33, *traceback(SIZES))

    assert note.fault_class == "batch-exceeds-captured-range"
    assert note.confidence == ("high" if algorithm == "DFLASH" else "ambiguous")
    if note.confidence == "ambiguous":
        assert [each.fault_class for each in note.candidates][1] == "shape-width-mismatch"
        assert "one request at a time" in note.next_step


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_fixture_has_its_class_first(name):
    report = triage([str(LOGS / name)])

    assert report.incidents[0].fault_class == EXPECTED[name]["fault_class"]
    assert report.exit_code == 1


@pytest.mark.parametrize("path", sorted((LOGS / "clean").glob("*.log")), ids=lambda path: path.name)
def test_a_log_of_a_healthy_server_gives_no_fault(path):
    report = triage([str(path)])

    assert report.verdict == "clean", report.incidents
    assert report.exit_code == 0


@given(st.sampled_from(sorted((LOGS / "clean").glob("server-*.log"))), st.data())
@SOME
def test_nor_does_its_beginning(path, data):
    lines = path.read_bytes().split(b"\n")
    ready = next(number for number, line in enumerate(lines) if b"ready to roll" in line)

    cut = data.draw(st.integers(ready + 1, len(lines)))

    assert triage_blocks({"log": [b"\n".join(lines[:cut])]}).verdict == "clean"


def test_text_of_no_engine_gives_no_verdict():
    report = diagnose("hello", "world")

    assert (report.verdict, report.exit_code) == ("none", 3)


def test_a_crash_loop_is_told_once_with_its_count():
    report = diagnose(*(line for _ in range(5) for line in (ARGS, READY, *traceback(SIZES))))

    assert [incident.occurrences for incident in report.incidents] == [5]


def test_two_runs_with_two_faults_are_two_incidents():
    report = diagnose(ARGS, *traceback(SIZES), ARGS, *traceback("torch.OutOfMemoryError: CUDA out of memory."))

    assert [incident.fault_class for incident in report.incidents] == ["shape-width-mismatch", "memory-oom"]


def test_several_files_of_one_deployment_are_one_incident(tmp_path):
    (tmp_path / "rank0.log").write_text("\n".join([ARGS, *CAPTURED, READY]))
    (tmp_path / "rank3.log").write_text("\n".join(traceback(SIZES)))

    report = triage([str(tmp_path / "rank0.log"), str(tmp_path / "rank3.log")])

    [note] = report.incidents
    assert note.confidence == "high"
    assert {place.file.rpartition("/")[2] for place in note.evidence} == {"rank0.log", "rank3.log"}


def test_the_same_path_twice_is_read_once(tmp_path):
    path = tmp_path / "a.log"
    path.write_text("\n".join(traceback(SIZES)))

    assert triage([str(path), str(path)]).files == (str(path),)


@given(st.binary(max_size=2000))
def test_never_raises_on_any_bytes(data):
    report = triage_blocks({"log": [data]})

    assert report.exit_code in (0, 1, 3)
    to_text(report)
    to_markdown(report)
    json.loads(to_json(report))


TELLING = st.lists(
    st.sampled_from(
        [
            ARGS,
            READY,
            BATCH_33,
            *CAPTURED,
            *traceback(SIZES),
            *traceback(IMA),
            "",
            "Exception: Capture cuda graph failed: x",
            "During handling of the above exception, another exception occurred:",
            "NVRM: Xid (PCI:0000:01:00): 31",
            "Received sigquit from a child process",
            "non-default args: {'speculative_config': {'method': 'mtp', 'num_speculative_tokens': 3}}",
            '{"log":"half',
            "\x1b[31m",
        ]
    ),
    max_size=30,
)


@given(TELLING)
def test_never_raises_on_any_order_of_telling_lines(lines):
    report = diagnose(*lines)

    assert bundle(report)


@given(st.sampled_from(sorted(EXPECTED)), st.data())
@SOME
def test_cutting_a_log_anywhere_after_the_first_fault_keeps_the_class(name, data):
    text, complete, _ = compose(CASES[EXPECTED[name]["case"]])
    lines = text.encode().split(b"\n")
    kept = len(b"\n".join(lines[:complete]))

    cut = data.draw(st.integers(kept, len(text.encode())))

    assert triage_blocks({"log": [text.encode()[:cut]]}).incidents[0].fault_class == EXPECTED[name]["fault_class"]


HEALTHY = {
    "sglang": (
        "[2026-05-11 12:00:30 TP7] Decode batch, #running-req: 2, #token: 77, token usage: 0.01, #queue-req: 0",
        "[2026-05-11 12:00:30 TP7] Prefill batch, #new-seq: 1, #new-token: 9, #cached-token: 0, #running-req: 2",
        '[2026-05-11 12:00:30 TP7] INFO:     10.0.0.1:9 - "POST /generate HTTP/1.1" 200 OK',
        "[2026-05-11 12:00:30 TP7] Load weight end. avail mem=10.00 GB",
    ),
    "vllm": (
        "(Worker_TP7 pid=707) INFO 05-11 12:00:30 [x.py:1] Avg generation throughput: 9.0 tokens/s, Running: 2 reqs",
        "(Worker_TP7 pid=707) INFO 05-11 12:00:30 [worker.py:1] all is well",
    ),
}


@given(st.sampled_from(sorted(CASES)), st.integers(0, 3), st.data())
@SOME
def test_interleaving_a_healthy_rank_keeps_the_class(name, seed, data):
    case = CASES[name]
    text, _, wrapping = compose(case, seed)
    lines = text.removesuffix("\n").split("\n")
    for _ in range(data.draw(st.integers(1, 12))):
        healthy = data.draw(st.sampled_from(HEALTHY[case["engine"]]))
        entry = Entry(rank=7, second=30, lines=[healthy])
        lines.insert(data.draw(st.integers(0, len(lines))), WRAPPINGS[wrapping](healthy, entry))

    assert diagnose(*lines).incidents[0].fault_class == case["fault_class"]


@pytest.mark.parametrize("position", POSITIONS)
def test_a_canary_in_any_position_of_any_line_reaches_no_output(position):
    secret = position.format(CANARY)
    args = ARGS.replace("tp_size=8", f"tp_size=8, extra={secret!r}")

    report = diagnose(
        f"+ export {secret}",
        args,
        f"[2026-05-11 12:00:01] x.py:1: UserWarning: {secret}",
        f"[2026-05-11 12:00:02] something failed: {secret}",
        *traceback(f"{SIZES} {secret}", f"managers/scheduler.py:run_batch:call({secret})"),
        f"second line {secret}",
        f"[2026-05-11 12:00:23] Received sigquit from a child process {secret}",
        name=f"logs/{secret}.log",
    )

    outputs = [to_json(report), to_markdown(report), "\n".join(to_text(report)), *unpacked(bundle(report))]
    assert not [output for output in outputs if CANARY in output]


def unpacked(data):
    import io
    import tarfile

    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        return [archive.extractfile(member).read().decode() for member in archive.getmembers()]


@pytest.mark.parametrize(
    "line",
    [
        "RuntimeError: \x1b[2J\x1b]0;owned\x07",
        "RuntimeError: ::error file=x::owned",
        "::error::RuntimeError: owned",
        "RuntimeError: \u202egnp.exe",
        "RuntimeError: [bold red]x[/] [link=http://evil]y[/link]",
        "RuntimeError: \0\0\0",
        "RuntimeError: " + "x" * 100_000,
    ],
)
def test_hostile_text_reaches_no_sink_raw(line):
    report = diagnose("sglang", line)

    assert report.verdict == "fault" or "::error::" in line
    for output in (to_json(report), to_markdown(report), "\n".join(to_text(report))):
        assert not set(output) & set("\x00\x07\x1b\u202e")
        assert not any(part.lstrip().startswith("::") for part in output.splitlines())
        assert len(output) < 20_000


def test_nothing_in_a_log_is_imported_evaluated_or_unpickled(tmp_path):
    trap = tmp_path / "owned"
    lines = [
        f"server_args=ServerArgs(model_path=__import__('pathlib').Path({str(trap)!r}).touch())",
        f"non-default args: {{'x': open({str(trap)!r}, 'w')}}",
        f'{{"log": "cposix\\nsystem\\n(S\'touch {trap}\'\\ntR.\\n", "stream": "stderr"}}',
    ]

    diagnose(*lines, *traceback(SIZES))

    assert not trap.exists()
