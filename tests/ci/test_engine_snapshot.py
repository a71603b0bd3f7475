"""The snapshot that specimens are judged with is what the reader makes of the installed engine."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from dacite import Config, from_dict

sys.path.insert(0, str(Path(__file__).parents[2] / "ci"))

import engine_snapshot

from ddtree_doctor.engine.source.read import read_engine
from ddtree_doctor.facts.model import Engine, Option, Seam


def test_a_snapshot_read_again_is_the_same_facts() -> None:
    engine = Engine(
        version="0.5.23",
        root="/somewhere",
        layout="captured-req-width",
        algorithms=("EAGLE",),
        options=(Option(name="tp_size", options=("--tp-size",), type="int", default=1, default_known=True),),
        seams=(Seam(name="width hook", state="intact", file="a.py", line=1),),
    )
    text = engine_snapshot.snapshot(engine)

    assert from_dict(Engine, json.loads(text), Config(cast=[tuple])) == replace(engine, root=None)


def test_no_engine_is_said_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(engine_snapshot, "read_engine", lambda _: Engine(unknown="sglang is not installed"))
    monkeypatch.setattr(engine_snapshot, "FOLDER", tmp_path)

    assert engine_snapshot.main([]) == 1
    assert "sglang is not installed" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.engine
def test_the_committed_snapshot_is_up_to_date() -> None:
    engine = read_engine()
    path = engine_snapshot.FOLDER / f"engine-{engine.version}.json"
    if not path.is_file():
        pytest.skip(f"no snapshot of SGLang {engine.version}")

    assert path.read_text(encoding="utf-8") == engine_snapshot.snapshot(engine), "run: python ci/engine_snapshot.py"


def test_a_snapshot_names_no_path_of_a_machine() -> None:
    for path in engine_snapshot.FOLDER.glob("engine-*.json"):
        assert json.loads(path.read_text(encoding="utf-8"))["root"] is None
        assert not re.search(r'"/(home|root|opt|work|usr)/', path.read_text(encoding="utf-8"))
