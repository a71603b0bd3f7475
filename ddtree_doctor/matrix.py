"""Every algorithm × role of an engine, on its own workers: expected beside observed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import resources

from ddtree_doctor.contract.build import build
from ddtree_doctor.examination import Plan, judged
from ddtree_doctor.facts.model import Engine, Facts, Host
from ddtree_doctor.facts.read import read_facts
from ddtree_doctor.launch import read_command
from ddtree_doctor.launch.model import Launch
from ddtree_doctor.progress import step
from ddtree_doctor.report.document import Examined
from ddtree_doctor.rule import Case

__all__ = ["LAUNCHES", "launches", "matrix"]

AT_ONCE = 2
"""Engine starts side by side: each takes one core."""

TREE = ("--speculative-num-steps", "3", "--speculative-eagle-topk", "4", "--speculative-num-draft-tokens", "17")
CHAIN = ("--speculative-num-steps", "3", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "4")

LAUNCHES: Mapping[str, tuple[str, str | None, tuple[str, ...]]] = {
    "NONE": ("target", None, ()),
    "EAGLE": ("target", "eagle", TREE),
    "EAGLE3": ("target", "eagle3", TREE),
    "STANDALONE": ("target", "standalone", TREE),
    "NGRAM": ("target", None, ("--speculative-num-draft-tokens", "33")),
    "DFLASH": ("target", "dflash", ("--speculative-num-draft-tokens", "8")),
    "DSPARK": ("target", "dspark", ()),
    "UNO": ("target", "uno-lora", ("--speculative-num-steps", "4", "--speculative-num-draft-tokens", "5")),
    "FROZEN_KV_MTP": ("target-gemma4", "frozen-kv-mtp", CHAIN),
    "MULTI_LAYER_EAGLE": ("target-multi-layer-mtp", None, (*CHAIN, "--enable-multi-layer-eagle")),
    "DDTREE": ("target", "dflash", ("--speculative-ddtree-block-size", "8", "--speculative-ddtree-budget", "32")),
}
"""Algorithm → tiny target, tiny draft, options: a tree where it has one, of a size that is no block's.

MULTI_LAYER_EAGLE is EAGLE with one draft layer a step.
"""

ALIASES = frozenset({"NEXTN"})


def launches(engine: Engine) -> tuple[Launch, ...]:
    """One launch for each algorithm that the engine and its plugins have, NONE among them."""
    names = dict.fromkeys(("NONE", *engine.algorithms, *engine.plugins))
    if "EAGLE" in names and engine.option("enable_multi_layer_eagle"):
        names["MULTI_LAYER_EAGLE"] = None
    return tuple(read_command(list(_words(name, engine)), engine.options) for name in names if name not in ALIASES)


def matrix(host: Host, engine: Engine, *, plugin: str | None, deadline: float) -> tuple[Examined, ...]:
    """Start the engine once for each algorithm and judge every role by the shape rules; `deadline` is for one start."""
    cases = [_case(launch, host, engine) for launch in launches(engine)]
    with step(f"starting the engine for {len(cases)} algorithms"), ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        seen = list(pool.map(lambda case: _observed(case, plugin, deadline), cases))
    return judged(seen, Plan(tier="shape", plugin=plugin, select=("DD2",)))


def _words(name: str, engine: Engine) -> Iterator[str]:
    """The command line of one algorithm, with graphs of few batch sizes."""
    target, draft, options = LAUNCHES.get(name, ("target", None, ()))
    yield from ("python", "-m", "sglang.launch_server", "--model-path", _tiny(target))
    if name != "NONE":
        yield from ("--speculative-algorithm", "EAGLE" if name == "MULTI_LAYER_EAGLE" else name)
    if draft is not None:
        yield from ("--speculative-draft-model-path", _tiny(draft))
    yield from options
    largest = engine.option("cuda_graph_max_bs_decode") or engine.option("cuda_graph_max_bs")
    if largest:
        yield from (largest.options[0], "8")
    yield from ("--max-running-requests", "16")


def _tiny(name: str) -> str:
    return str(resources.files("ddtree_doctor.fixtures") / "models" / "tiny" / name)


def _case(launch: Launch, host: Host, engine: Engine) -> Case:
    facts: Facts = read_facts(launch, host, engine)
    return Case(facts=facts, contract=build(facts))


def _observed(case: Case, plugin: str | None, deadline: float) -> Case:
    from ddtree_doctor.probe.shape import observe

    chosen = plugin if case.settings.algorithm.value in case.facts.engine.plugins else None
    return replace(case, ledger=observe(case.facts.launch, case.settings, plugin=chosen, deadline=deadline))
