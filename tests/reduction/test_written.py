"""The file of a case: what it imports, what it says at its head, and that no text of the user's can end that."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from dataclasses import replace

import pytest

from ddtree_doctor.engine.job import Job
from ddtree_doctor.reduction.written import case_data, written

BESIDE = {"torch", "sglang", "triton", "numpy"}
"""What SGLang itself installs."""

START = Job(algorithm="NGRAM", options=("--speculative-algorithm", "NGRAM"), lean=True, context=96)
SCENARIO = {
    "name": "s",
    "page_size": 1,
    "batches": [[{"slot": 0, "prefix": 1, "parents": [-1], "tokens": [3], "pads": 6, "pad_token": 0}]],
}
TREE = replace(
    START,
    algorithm="DDTREE",
    plugin="ddtree",
    values={"speculative_ddtree_budget": 6, "api_key": "sk-secret", "model_path": "/home/someone/model"},
)
STARTS = {
    "NGRAM": START,
    "NONE": replace(START, algorithm="NONE", options=()),
    "DDTREE": TREE,
    "EAGLE": replace(START, algorithm="EAGLE"),
    "STANDALONE": replace(START, algorithm="STANDALONE"),
    "DFLASH": replace(START, algorithm="DFLASH"),
}


def file_of(start: Job, code: str = "DD301", command: str = "python -m sglang.launch_server") -> str:
    return written(
        case_data(start, code, [SCENARIO], "a verify pass"),
        name="case.py",
        command=command,
        details=["graph: only with graphs"],
        release="SGLang 0.5.23",
        watched=code == "DD307",
    )


@pytest.fixture(params=sorted(STARTS))
def start(request) -> Job:
    return STARTS[request.param]


@pytest.mark.parametrize("code", ["DD301", "DD302", "DD307"])
def test_it_imports_sglang_what_that_brings_and_the_standard_library_alone(start, code):
    found = set()
    for node in ast.walk(ast.parse(file_of(start, code))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0])
    assert found <= BESIDE | set(sys.stdlib_module_names)


def test_every_name_that_it_uses_is_there(start):
    tree = ast.parse(file_of(start))
    bound = {name.id for name in ast.walk(tree) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}
    bound |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    bound |= {one.name for one in ast.walk(tree) if isinstance(one, ast.ExceptHandler) and one.name}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    read = {name.id for name in ast.walk(tree) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load)}
    assert read - bound - set(dir(__builtins__)) - set(__builtins__ if isinstance(__builtins__, dict) else ()) <= {
        "__name__"
    }


def test_it_is_short_enough_to_read_and_says_first_what_fails():
    text = file_of(START, command="python -m sglang.launch_server --speculative-algorithm NGRAM")
    assert text.count("\n") < 2500
    head = ast.get_docstring(ast.parse(text)) or ""
    assert "--speculative-algorithm NGRAM" in head
    assert "graph: only with graphs" in head
    assert "python case.py --apply FILE" in head
    assert text.index("def reproduce(") < text.index("# --- ddtree_doctor/engine/seams.py")


def test_memory_is_watched_only_where_that_is_the_case():
    assert "class Bounds" in file_of(START, "DD307")
    assert "class Bounds" not in file_of(START, "DD301")


def test_of_the_launch_s_values_only_the_plugin_s_own_go_into_it():
    text = file_of(TREE)
    assert "'speculative_ddtree_budget': 6" in text
    assert "sk-secret" not in text
    assert "/home/someone" not in text


def test_a_case_is_plain_data_without_paths_of_this_machine():
    case = case_data(replace(START, algorithm="DFLASH", block=8), "DD301", [SCENARIO], "x")
    assert json.loads(json.dumps(case)) == case
    assert case["paths"] == {"model_path": "target", "speculative_draft_model_path": "dflash"}
    assert case["models"]["dflash"]["block_size"] == 8
    assert "/tmp" not in json.dumps(case)


@pytest.mark.parametrize("command", ['"""', "\\", '\\"""\nimport os\n"""', "{0} PLATFORM WATCH PLUGIN"])
def test_no_command_can_end_the_docstring_or_change_the_code(command):
    plain, hostile = ast.parse(file_of(START)), ast.parse(file_of(START, command=command))
    assert ast.dump(ast.Module(plain.body[1:], [])) == ast.dump(ast.Module(hostile.body[1:], []))


def test_an_error_of_the_file_itself_is_no_verdict(tmp_path):
    file = tmp_path / "case.py"
    file.write_text(file_of(START))
    blocked = "import runpy, sys; sys.modules['triton'] = None; runpy.run_path(sys.argv[1], run_name='__main__')"
    ran = subprocess.run([sys.executable, "-c", blocked, str(file)], capture_output=True, text=True, check=False)
    assert ran.returncode == 125
    assert "triton" in ran.stderr
