"""From a job to SGLang's own resolved server arguments, for the launch's ranks and on the CPU.

The options are read and resolved as for a GPU, because capture lists, overlap and algorithm rules hang on the device;
only then is it said that the device is a CPU.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from ddtree_doctor.engine import seams
from ddtree_doctor.engine.job import Job
from ddtree_doctor.engine.models import Numbers, adapter_written, checkpoints, written
from ddtree_doctor.probe.child import Failed

__all__ = ["ON_CPU", "RESOLVED", "declare", "resolved", "server_arguments", "set_by_probe"]

RESOLVED = (
    "speculative_algorithm",
    "speculative_num_draft_tokens",
    "speculative_num_steps",
    "speculative_eagle_topk",
    "page_size",
    "max_running_requests",
    "cuda_graph_config",
    "tp_size",
    "dp_size",
    "attn_dp_size",
    "attn_cp_size",
    "enable_dp_attention",
    "enable_two_batch_overlap",
    "disable_overlap_schedule",
    "disable_cuda_graph_padding",
    "chunked_prefill_size",
    "attention_backend",
)
"""The resolved fields that the ledger shows, where the release has them."""

_SOURCE = "ddtree_doctor"
_POOL_TOKENS = 16384
_MEMORY = 0.5
"""Share of host memory that a KV pool may take; the tokens above take far less."""
ON_CPU = {"device": "cpu", "attention_backend": "triton"}
"""What differs on the CPU once the options are resolved."""


def server_arguments(job: Job, folder: Path) -> Any:
    """SGLang's arguments for `job`, resolved. The tiny checkpoints are written under `folder`.

    Raises Failed if SGLang refuses the options, with what it says.
    """
    given = _parsed(job, folder)
    try:
        arguments = seams.find("server arguments").from_cli_args(given)
        if hasattr(arguments, "resolve_once"):
            arguments.resolve_once()
    except (ValueError, AssertionError, NotImplementedError, RuntimeError, ImportError) as refusal:
        raise Failed(f"the engine refuses this launch: {type(refusal).__name__}: {refusal}") from refusal
    if job.device == "cpu":
        declare(arguments, ON_CPU)
    return arguments


def resolved(arguments: Any) -> dict[str, Any]:
    """What SGLang resolved the RESOLVED fields to."""
    whole = arguments.resolved_dict() if hasattr(arguments, "resolved_dict") else vars(arguments)
    return {name: _plain(whole[name]) for name in RESOLVED if name in whole}


def _parsed(job: Job, folder: Path) -> argparse.Namespace:
    """The launch's options read by SGLang's own parser, then what the probe sets."""
    parser = _Parser(prog="sglang")
    seams.find("server arguments").add_cli_args(parser)
    given = parser.parse_args(["--model-path", "dummy", *job.options])
    for name, value in set_by_probe(job, folder).items():
        if hasattr(given, name):
            setattr(given, name, value)
    return given


def set_by_probe(job: Job, folder: Path) -> dict[str, Any]:
    """The engine's fields that the probe sets; tiny checkpoints are written under `folder`. Raises Failed without."""
    tiny = checkpoints(job.checkpoints)
    if tiny is None:
        raise Failed(f"no tiny checkpoint for {job.algorithm}: the doctor does not know what its draft is built from")
    drafts = job.steps if job.multi_layer else None
    shared = Numbers(
        tp=job.tp, context=job.context, block=job.block, drafts=drafts, lean=job.lean, gpu=job.device == "cuda"
    )
    # Dense drafts shard their heads over the whole TP group, targets over the ranks that attention-DP leaves together.
    draft = None if tiny.draft is None else str(written(tiny.draft, replace(shared, heads_tp=job.tp), folder))
    target = written(tiny.target, replace(shared, heads_tp=min(job.attn_tp, job.tp)), folder)
    adapter = None if tiny.adapter is None else str(adapter_written(tiny.adapter, target, folder))
    return {
        "model_path": str(target),
        "uno_lora_path": adapter,
        "speculative_draft_model_path": draft,
        "device": "cuda",
        "load_format": "dummy",
        "dtype": "float32",
        "skip_tokenizer_init": True,
        "context_length": job.context,
        "max_total_tokens": _POOL_TOKENS,
        "mem_fraction_static": _MEMORY,
        "attention_backend": "triton",
        "disaggregation_transfer_backend": "nixl",
        "disable_custom_all_reduce": True,
        "disable_prefill_cuda_graph": True,
        **({} if job.page_size is None else {"page_size": job.page_size}),
        **tiny.options,
        **job.fixed,
    }


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Failed(f"the engine refuses the command line: {message}")


def declare(arguments: Any, changes: Mapping[str, Any]) -> None:
    """Say what differs on the CPU, as SGLang's own resolution steps do; older releases override, the oldest assign."""
    known = {name: value for name, value in changes.items() if hasattr(arguments, name)}
    if seams.present("declared resolution"):
        seams.find("declared resolution")(arguments, _SOURCE, **known)
        return
    if hasattr(arguments, "override"):
        arguments.override(_SOURCE, **known)
        return
    for name, value in known.items():
        setattr(arguments, name, value)


def _plain(value: Any) -> Any:
    """`value` as JSON has it."""
    if hasattr(value, "to_dict"):
        return _plain(value.to_dict())
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
