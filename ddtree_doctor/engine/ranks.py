"""Rank 0 of a launch's ranks, told to SGLang in the way that each release wants it.

From the release that has `SpawnRanks` on, the process publishes its ranks and builds the process groups itself, as the
scheduler's process does. Before, the target's model runner builds them, each worker is handed a `ParallelState`, and a
draft worker is built under arguments of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ddtree_doctor.engine import seams

__all__ = ["draft_arguments", "publish", "share_cores", "worker_ranks"]


def publish(arguments: Any, *, device: str, port: int) -> None:
    """What the scheduler's process does before it builds any worker."""
    if seams.older():
        share_cores(arguments.tp_size)
        seams.find("publish")(arguments, role="scheduler")
        return
    ranks = seams.find("spawn ranks")(world_rank=0, dp_rank=None, gpu_id=0)
    seams.find("publish")(arguments, role="scheduler", ranks=ranks)
    seams.find("parallel runtime")(server_args=arguments, device=device, dist_port=port)
    seams.find("layer runtime")(model_config=seams.find("model config").from_server_args(arguments))


def share_cores(ranks: int) -> None:
    """Let all `ranks` share what cores this process has: on a CPU 0.5.17 wants one list of cores per rank, no more."""
    os.environ["SGLANG_CPU_OMP_THREADS_BIND"] = "|".join(["0"] * ranks)


def worker_ranks(arguments: Any) -> dict[str, Any]:
    """What a worker of this release is told about its ranks, by parameter; nothing where it reads what is published."""
    if not seams.older():
        return {}
    whole, dp, cp = arguments.tp_size, arguments.dp_size, arguments.attn_cp_size
    _, attn_tp, _, attn_dp = seams.find("attention ranks")(arguments.enable_dp_attention, 0, whole, dp, cp)
    state = seams.find("parallel state").trivial(
        tp_size=whole,
        dp_rank=None,
        dp_size=dp,
        attn_tp_size=attn_tp,
        attn_cp_size=cp,
        attn_dp_size=attn_dp,
        moe_ep_size=arguments.ep_size,
        moe_dp_rank=None,
        moe_dp_size=arguments.moe_dp_size,
        dcp_size=arguments.dcp_size,
    )
    return {"ps": state}


@contextmanager
def draft_arguments(arguments: Any, target: Any) -> Iterator[Any]:
    """The arguments under which a draft worker is built, published for as long as the block lasts."""
    if not seams.older():
        yield arguments
        return
    own = seams.find("draft arguments")(server_args=arguments, target_model_config=target.model_runner.model_config)
    context = seams.find("context")()
    with context.preserve_config():
        context.set_server_args(own)
        yield own
