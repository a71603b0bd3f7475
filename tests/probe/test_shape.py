"""Observing a launch: whatever becomes of the probe, a ledger comes back and says it."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from ddtree_doctor.contract.model import Settings
from ddtree_doctor.engine.job import Job
from ddtree_doctor.errors import UsageError
from ddtree_doctor.knowledge import Value
from ddtree_doctor.launch.model import Launch
from ddtree_doctor.ledger import Ledger
from ddtree_doctor.probe.process import Outcome
from ddtree_doctor.probe.shape import _ledger, observe, observe_job, read_ledger

NOTHING = Settings(**{field.name: Value(name=field.name, why="not given") for field in fields(Settings)})
PLAIN = Job(algorithm="NONE", substituted=("device: CPU",))


def engine_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """Put an engine before the installed one whose package does `body` when it is imported."""
    package = tmp_path / "sglang"
    (package / "srt").mkdir(parents=True)
    (package / "__init__.py").write_text(body)
    (package / "srt" / "__init__.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


@pytest.mark.parametrize("names", [{"plugin": "ddtre"}, {"mutant": "no_such_mutant"}])
def test_a_plugin_or_mutant_that_does_not_exist_is_refused_before_anything_starts(names: dict[str, str]):
    with pytest.raises(UsageError):
        observe(Launch(command="x"), NOTHING, **names)


@pytest.mark.engine
@pytest.mark.parametrize(
    ("body", "unknown"),
    [
        pytest.param(
            "raise ModuleNotFoundError(\"No module named 'sglang'\", name='sglang')",
            "import failed: ModuleNotFoundError: No module named 'sglang'",
            id="absent",
        ),
        pytest.param("import no_such_dependency", "import failed: ModuleNotFoundError", id="a dependency is missing"),
        pytest.param("raise RuntimeError('built for another CUDA')", "RuntimeError: built for another", id="broken"),
        pytest.param("", "absent seam: plugin loader (sglang.srt.plugins:load_plugins)", id="older than any layout"),
        pytest.param("import os; os.kill(os.getpid(), 9)", "killed by SIGKILL", id="killed"),
        pytest.param("import os; os.abort()", "killed by SIGABRT", id="aborts"),
        pytest.param("import os; os._exit(0)", "ended without an answer", id="silent"),
        pytest.param("import time; time.sleep(600)", "timed out after 8 s", id="hangs"),
        pytest.param("while True: print('x' * 4096)", "printed more than", id="fills its output"),
    ],
)
def test_an_engine_that_cannot_be_started_leaves_a_named_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, unknown: str
):
    engine_of(tmp_path, monkeypatch, body)
    ledger = observe_job(PLAIN, deadline=8.0 if "sleep" in body else 60.0)
    assert unknown in ledger.unknown
    assert "\n" not in ledger.unknown
    assert (ledger.algorithm, ledger.rows, ledger.substituted) == ("NONE", (), PLAIN.substituted)


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "unknown"),
    [
        pytest.param(("--page-size", "many"), "the engine refuses the command line: argument --page-size", id="type"),
        pytest.param(("--no-such-flag",), "the engine refuses the command line: unrecognized arguments", id="unknown"),
        pytest.param(
            ("--speculative-algorithm", "DDTREE"), "Unknown speculative algorithm name: DDTREE", id="no such algorithm"
        ),
        pytest.param(
            ("--speculative-algorithm", "NGRAM", "--tp-size", "2", "--dp-size", "2", "--enable-dp-attention"),
            "the engine refuses this launch: ValueError: Currently ngram speculative decoding does not support",
            id="not supported",
        ),
    ],
)
def test_a_launch_that_the_engine_refuses_says_so_in_its_words(options: tuple[str, ...], unknown: str):
    assert unknown in observe_job(Job(algorithm="NONE", tp=2, options=options), deadline=240).unknown


@pytest.mark.engine
@pytest.mark.slow
def test_an_algorithm_without_tiny_checkpoints_is_said():
    assert "no tiny checkpoint for SOMETHING_NEW" in observe_job(Job(algorithm="SOMETHING_NEW"), deadline=240).unknown


@pytest.mark.parametrize("answer", [None, 7, [], {}, {"algorithm": 3}, {"algorithm": "NONE", "rows": [{"role": 1}]}])
def test_an_answer_that_is_no_ledger_is_said(answer: object):
    ledger = _ledger(PLAIN, Outcome(kind="ok", answer=answer))
    assert ledger.unknown.startswith("the probe's answer is no ledger: ")


def test_a_ledger_goes_to_plain_data_and_back():
    plain = {"algorithm": "NONE", "rows": [{"algorithm": "NONE", "role": "decode", "capture_bs": [1, 2]}]}
    ledger = read_ledger(plain)
    assert isinstance(ledger, Ledger)
    assert ledger.row("decode").capture_bs == (1, 2)


def test_the_last_words_of_a_probe_that_died_go_into_the_reason():
    died = Outcome(kind="killed", why="killed by SIGSEGV", log="loading\nFatal Python error: Segmentation fault\n\n")
    assert _ledger(PLAIN, died).unknown == "killed by SIGSEGV (last line: Fatal Python error: Segmentation fault)"
