"""Starting: the scheduler's order, in the launch's environment."""

from __future__ import annotations

import ast
import inspect
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ddtree_doctor.engine import start

pytestmark = [pytest.mark.engine, pytest.mark.slow]


def test_the_launchs_switches_are_in_the_environment(inside: dict[str, Any]):
    assert inside["environment"] == "static"


def test_workers_are_started_in_the_order_of_the_scheduler():
    scheduler = Path(find_spec("sglang").submodule_search_locations[0], "srt/managers/scheduler.py").read_text()
    ours = {
        "init_tp_model_worker": "_workers",
        "maybe_init_draft_worker": "_workers",
        "init_memory_pools": "_pools",
        "init_all_attention_backends": "_attention",
        "init_all_cuda_graphs": "_graphs",
    }
    theirs = [ours[name] for name in calls(scheduler, "init_model_worker") if name in ours]
    own = [name for name in calls(inspect.getsource(start), "capture") if name in ours.values()]
    assert list(dict.fromkeys(theirs)) == own


def calls(source: str, function: str) -> list[str]:
    """The names that `function` in `source` calls, in order."""
    body = next(
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef) and node.name == function
    )
    called = [node.func for node in ast.walk(body) if isinstance(node, ast.Call)]
    placed = sorted(called, key=lambda name: (name.lineno, name.col_offset))
    return [name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "") for name in placed]
