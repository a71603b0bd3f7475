import json
from dataclasses import replace
from importlib import resources

import jsonschema
import pytest

from ddtree_doctor.facts.bundle import bundle_of, read_bundle
from ddtree_doctor.ledger import Ledger
from ddtree_doctor.replay.engine_run import EngineRun, Text
from ddtree_doctor.report.document import Examined, document
from ddtree_doctor.report.engine_runs import engine_run_objects, engine_runs_table
from tests.report.sample import case

SCHEMA = json.loads((resources.files("ddtree_doctor.report") / "schema.json").read_text())
BEST = ((-1.0, -1.5), (-1.0, -1.000001))


def run(tokens=(4, 5), *, speculation=False, graphs=False, **fields):
    base = EngineRun(
        host="gpu",
        algorithm="NGRAM" if speculation else "NONE",
        speculation=speculation,
        graphs=graphs,
        number=1,
        backend="triton",
        dtype="float32",
        texts=(Text(tokens=tokens, best=() if speculation else BEST),),
        spread=1e-6,
        replays=5 if graphs else 0,
        accept_length=2.5 if speculation else None,
        seconds=61.2,
    )
    return replace(base, **fields)


RUNS = (
    run(),
    run(number=2),
    run(graphs=True),
    run((4, 9), speculation=True),
    run((7, 5), speculation=True, graphs=True),
    run(speculation=True, graphs=True, texts=(), unknown="RuntimeError: [red]no[/red] \x1b[31mkernel"),
)


@pytest.fixture
def shown():
    from rich.console import Console

    console = Console(width=110, record=True, file=None, quiet=True)
    console.quiet = False
    with console.capture() as captured:
        console.print(engine_runs_table(list(engine_run_objects(0, RUNS))))
    return captured.get()


def test_each_run_is_held_against_the_trusted_one():
    found = [entry["agreement"] for entry in engine_run_objects(0, RUNS)]
    assert found == ["trusted", "same", "same", "tie", "differs", "unknown"]


def test_the_first_divergence_has_its_gap():
    entry = list(engine_run_objects(3, RUNS))[4]
    assert entry["launch"] == 3
    assert entry["first_divergence"] == {"prompt": 0, "position": 0, "token": 4, "other": 7, "gap": 0.5}


def test_without_a_trusted_run_all_are_unknown():
    found = {entry["agreement"] for entry in engine_run_objects(0, [replace(RUNS[0], unknown="killed"), *RUNS[2:]])}
    assert found == {"unknown"}


def test_a_person_reads_speculation_graphs_tokens_and_accept_length(shown):
    assert "2 to 1 prompts, the reference" in shown
    assert "off (run 2)" in shown
    assert "a tie from token 1 of prompt 0 on, logit gap there 1e-06" in shown
    assert "differ from token 0 of prompt 0 on, logit gap there 0.5" in shown
    assert "2.50" in shown


def test_markup_and_escapes_of_an_engine_reach_no_terminal(shown):
    assert "[red]no[/red]" in shown
    assert "\x1b[31m" not in shown


def test_the_report_with_runs_is_valid():
    seen = replace(case(), ledger=Ledger(algorithm="NGRAM", engine_runs=RUNS))
    report = document([Examined(case=seen, outcomes=())], tier="replay-gpu", facts_digest="0" * 64)
    jsonschema.validate(report, SCHEMA)
    assert len(report["engine_runs"]) == len(RUNS)


def test_a_bundle_carries_the_runs_to_another_machine():
    seen = replace(case(), ledger=Ledger(algorithm="NGRAM", engine_runs=RUNS[:5]))
    (again,) = read_bundle(bundle_of([seen], tier="replay-gpu").to_json().encode()).cases()
    assert again.ledger is not None
    assert again.ledger.engine_runs == RUNS[:5]
