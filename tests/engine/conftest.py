"""Two processes of the real engine that many tests look into: each is started once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ddtree_doctor.probe.process import Limits, module, run
from tests.engine.starts import DEADLINE


@pytest.fixture(scope="session")
def inside() -> dict[str, Any]:
    """What holds inside a probe's process."""
    return _answer("tests.engine.inside")


@pytest.fixture(scope="session")
def moved() -> dict[str, dict[str, str]]:
    """What the doctor makes of each seam once it has moved."""
    return _answer("tests.engine.moves")


def _answer(name: str) -> Any:
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    outcome = run(module(name), limits=Limits(deadline=DEADLINE), env={"PYTHONPATH": path})
    assert outcome.kind == "ok", outcome.why + outcome.log
    return outcome.answer
