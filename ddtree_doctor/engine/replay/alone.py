"""Runs one case on SGLang's own workers and says whether it fails: what a written file does, without the doctor.

`reduction.written` takes this module, and of the package what it needs, over into such a file. There `CASE` holds what
`reduction.written.case_data` makes.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ddtree_doctor.engine import seams
from ddtree_doctor.engine.host import before_import
from ddtree_doctor.engine.ranks import publish
from ddtree_doctor.engine.replay.behaviour import captured
from ddtree_doctor.engine.replay.suite import Suite, Watch, suite_of
from ddtree_doctor.engine.resolve import ON_CPU, declare
from ddtree_doctor.engine.start import import_workers
from ddtree_doctor.replay.record import Gap, Pass
from ddtree_doctor.replay.scenario import Scenario

__all__ = ["become_host", "reproduce", "wrong"]


def become_host(case: Mapping[str, Any], module: str) -> None:
    """Let SGLang run on this machine's CPU. It finds platforms and algorithms by entry points: offer it this file's."""
    os.environ.update(case["environment"], DDTREE_DOCTOR_GPU_MIB=str(case["gpu_mib"]))
    find = metadata.entry_points
    offered = {"sglang.srt.platforms": f"{module}:platform", "sglang.srt.plugins": f"{module}:plugin"}

    def entry_points(**asked: Any) -> Any:
        group = asked.get("group", "")
        if group not in offered:
            return find(**asked)
        return metadata.EntryPoints([metadata.EntryPoint("ddtree_doctor", offered[group], group)])

    metadata.entry_points = entry_points  # type: ignore[assignment]
    before_import()


def reproduce(case: Mapping[str, Any], watch: Callable[[], Watch]) -> int:
    """Run the case and print what was seen. 1 if it fails by the case's rule (by any, where that is ""), else 0."""
    parser = argparse.ArgumentParser(description=case["about"])
    parser.add_argument(
        "--apply", metavar="FILE", default="", help="a Python file whose apply() changes SGLang before it starts"
    )
    given = parser.parse_args()
    import torch

    with tempfile.TemporaryDirectory(prefix="tiny-") as folder:
        started = _started(case, Path(folder), given.apply)
        what, watching = SimpleNamespace(served=False, seed=case["seed"]), watch()
        captured(what, started, watching)  # type: ignore[arg-type]
        suite = _suite(case, started, watching)
        with torch.no_grad():
            suite.run([Scenario.from_json(one) for one in case["scenarios"]])
    failing = _failing(case["code"], suite)
    for line in failing:
        print(f"FAILS {line}")
    if not failing:
        print(f"passes: {len(suite.passes)} verify passes, nothing of {case['code'] or 'any rule'} seen")
    return 1 if failing else 0


def _started(case: Mapping[str, Any], folder: Path, patch: str) -> Any:
    """SGLang's options resolved and published; its workers are started by `captured`, after the patch."""
    seams.find("plugin loader")()
    arguments = _arguments(case, folder)
    publish(arguments, device="cpu", port=29555)
    if case["expert_gather"]:
        seams.find("expert options")(*([arguments] if seams.older() else []))
    name = seams.find("speculation options")().speculative_algorithm
    started = SimpleNamespace(
        job=SimpleNamespace(device="cpu", mutant=patch),
        arguments=arguments,
        algorithm=seams.find("algorithms").from_string(name),
        target=None,
        draft=None,
        port=29555,
        lists=SimpleNamespace(listen=lambda: None),
        failed="",
    )
    import_workers(started)  # type: ignore[arg-type]
    return started


def _arguments(case: Mapping[str, Any], folder: Path) -> Any:
    """The launch's options as SGLang reads and resolves them, over the tiny models of the case."""
    for name, config in case["models"].items():
        (folder / name).mkdir()
        (folder / name / "config.json").write_text(json.dumps(config))
    parser = argparse.ArgumentParser()
    seams.find("server arguments").add_cli_args(parser)
    given = parser.parse_args(["--model-path", "dummy", *case["options"]])
    for name, value in case["fields"].items():
        if hasattr(given, name):
            setattr(given, name, str(folder / case["paths"][name]) if name in case["paths"] else value)
    arguments = seams.find("server arguments").from_cli_args(given)
    if hasattr(arguments, "resolve_once"):
        arguments.resolve_once()
    declare(arguments, ON_CPU)
    return arguments


def _suite(case: Mapping[str, Any], started: Any, watch: Watch) -> Suite:
    runner = seams.field(started.target, "model runner")
    width = int(seams.field(runner.decode_cuda_graph_runner, "captured width"))
    return suite_of(
        runner,
        page_size=int(runner.token_to_kv_pool_allocator.page_size),
        vocabulary=int(seams.field(seams.field(runner, "model's config"), "vocabulary")),
        longest=case["context"] - width,
        seed=case["seed"],
        watch=watch,
        oracle=lambda _: case["code"] in ("", "DD302"),
    )


def _failing(code: str, suite: Suite) -> list[str]:
    """What of the passes is wrong by the rule, by any of them where it is "": a line each."""
    strays = [
        f"DD307: {one.where}: {one.access} at byte {one.offset} of {one.size}, in {one.scenario}"
        for one in suite.accesses
    ]
    found = [line for one in suite.passes for line in wrong(one, suite.dtype)]
    return [line for line in (*strays, *found) if line.startswith(code)]


def wrong(one: Pass, dtype: str) -> Iterator[str]:
    """What is wrong with one pass, a line each that begins with the rule's code."""
    where = f"{one.scenario}, batch {one.step + 1}, {one.bs} requests"
    if one.error:
        yield f"DD308: {where}: {one.error}"
    elif not one.hit:
        yield f"DD306: {where}: ran eager, without a graph"
    if one.replay and not one.replay.agrees(dtype):
        yield f"DD301: {where}: replay of the graph for {one.captured_bs} and eager forward {_apart(one.replay, dtype)}"
    if one.path and not one.path.agrees(dtype):
        yield f"DD302: {where}: tree rows and plain forwards over their paths {_apart(one.path, dtype)}"


def _apart(gap: Gap, dtype: str) -> str:
    return f"differ by {gap.size:.6g} where {gap.allowed(dtype):.3g} is allowed, first in row {gap.row}"
