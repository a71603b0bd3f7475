"""The static rules on the configuration that the log itself prints: what would have been said before launch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from ddtree_doctor.contract.build import build
from ddtree_doctor.facts.model import Engine, Facts, Host, ModelConfig
from ddtree_doctor.facts.shipped import shipped_engine, shipped_releases
from ddtree_doctor.judge import BLOCKING, judge
from ddtree_doctor.launch.model import Flag, Launch, Location
from ddtree_doctor.rule import Case
from ddtree_doctor.triage.report import LaunchFinding
from ddtree_doctor.triage.setup import Setup

__all__ = ["Precheck", "launch_of", "precheck"]

NOT_IN_LOG = "the log does not tell"
# The log prints a record with every field filled in, not what the user typed: rules about the typing do not apply.
# Nor does the one that asks whether the engine has the algorithm: it ran, so a fork or plugin has it.
ABOUT_TYPING = frozenset({"DD101", "DD102", "DD103", "DD118", "DD119", "DD121", "DD128"})
FIELDS = frozenset(
    {
        "attention_backend",
        "attn_cp_size",
        "context_length",
        "cuda_graph_bs",
        "cuda_graph_bs_decode",
        "cuda_graph_max_bs",
        "cuda_graph_max_bs_decode",
        "decode_attention_backend",
        "device",
        "disable_cuda_graph",
        "disable_decode_cuda_graph",
        "disable_overlap_schedule",
        "dp_size",
        "dtype",
        "enable_dp_attention",
        "enable_dp_lm_head",
        "enable_lora",
        "enable_two_batch_overlap",
        "ep_size",
        "grammar_backend",
        "kv_cache_dtype",
        "mamba_radix_cache_strategy",
        "mamba_scheduler_strategy",
        "max_running_requests",
        "mem_fraction_static",
        "model_path",
        "moe_a2a_backend",
        "moe_dense_tp_size",
        "page_size",
        "pp_size",
        "prefill_attention_backend",
        "quantization",
        "tp_size",
    }
)
"""The fields that the contract reads, beside those of speculation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Precheck:
    """What the static rules find, those that refuse the launch first, and the codes of the rules left unknown."""

    findings: tuple[LaunchFinding, ...] = ()
    unknown: tuple[str, ...] = ()


def precheck(setup: Setup) -> Precheck:
    """The static rules on the launch that `setup` tells of; nothing where the log has no `server_args` line."""
    launch = launch_of(setup)
    if launch is None:
        return Precheck()
    rules = [rule for rule in import_module("ddtree_doctor.checks").rules() if _applies(rule.code)]
    facts = _facts(launch, setup)
    outcomes = judge(Case(facts=facts, contract=build(facts)), rules, "static")
    told = [
        LaunchFinding(
            code=found.code,
            name=found.name,
            message=found.message,
            refused=(found.severity, found.confidence) in BLOCKING,
            fix=found.fix,
        )
        for outcome in outcomes
        for found in outcome.findings
        if found.severity != "info"
    ]
    return Precheck(
        findings=tuple(sorted(told, key=lambda found: (not found.refused, found.code))),
        unknown=tuple(outcome.check.code for outcome in outcomes if outcome.status == "unknown"),
    )


def launch_of(setup: Setup) -> Launch | None:
    """The launch that the log's `server_args` or command line tells of; None where there is none."""
    place = setup.places.get("speculative_algorithm") or setup.places.get("model_path")
    if setup.engine != "sglang" or place is None:
        return None
    location = Location(file=place.file, line=place.line)
    flags = tuple(
        Flag(option=f"--{name.replace('_', '-')}", name=name, values=words, location=location)
        for name, value in setup.values.items()
        if (name in FIELDS or name.startswith("speculative_")) and (words := _words(value)) is not None
    )
    return Launch(command="server_args as printed in the log", location=location, flags=flags)


def _applies(code: str) -> bool:
    return code.startswith("DD1") and code not in ABOUT_TYPING


def _words(value: object) -> tuple[str, ...] | None:
    """The words of a flag; None where the field is unset or no flag's value."""
    if value is None or value is False or value == "" or isinstance(value, dict):
        return None
    if value is True:
        return ()
    return tuple(str(item) for item in value) if isinstance(value, list) else (str(value),)


def _facts(launch: Launch, setup: Setup) -> Facts:
    draft = setup.text("speculative_draft_model_path")
    return Facts(
        host=Host(python="", platform="", unknown={"gpus": NOT_IN_LOG, "driver": NOT_IN_LOG}),
        engine=_engine(setup.values),
        launch=launch,
        target=ModelConfig(name=setup.text("model_path") or "target", unknown="the log does not hold its config.json"),
        draft=ModelConfig(name=draft, unknown="the log does not hold its config.json") if draft else None,
    )


def _engine(values: Mapping[str, object]) -> Engine:
    """The engine of the release that the log names: as brought along, else as installed here, else unknown."""
    told = str(values.get("version.sglang") or "")
    if not told:
        return Engine(unknown="the log does not name the engine's version")
    if told in shipped_releases():
        return shipped_engine(told)
    if told == _installed():
        engine: Engine = import_module("ddtree_doctor.engine.source.read").read_engine()
        return engine
    return Engine(
        version=told, unknown=f"SGLang {told}, which wrote the log, is neither brought along nor installed here"
    )


def _installed() -> str:
    try:
        return version("sglang")
    except PackageNotFoundError:
        return ""
