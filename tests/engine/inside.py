"""What holds inside a probe's process, seen from inside. Run in a process of its own; answers with one object."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ddtree_doctor.engine.job import Job
from ddtree_doctor.probe.child import serve

JOB = Job(
    algorithm="EAGLE",
    tp=4,
    attn_tp=4,
    gpu_mib=24 * 1024,
    environment={"SGLANG_RAGGED_VERIFY_MODE": "static"},
    options=("--speculative-algorithm", "EAGLE", "--tp-size", "4", "--page-size", "16"),
)


def inside(_: Any) -> dict[str, Any]:
    from ddtree_doctor.engine.resolve import resolved
    from ddtree_doctor.engine.start import opened, prepare

    prepare(JOB)
    with tempfile.TemporaryDirectory() as folder:
        started = opened(JOB, Path(folder))
        seen = {"resolved": resolved(started.arguments), "algorithm": str(started.algorithm)}
    return seen | {name: look() for name, look in LOOKS.items()}


def _kernel_call() -> str:
    import sgl_kernel
    import torch

    try:
        sgl_kernel.silu_and_mul(torch.zeros(2, 4))
    except Exception as error:
        return str(error)
    return "ran"


def _world() -> list[Any]:
    import torch
    import torch.distributed as dist
    from sglang.srt.runtime_context import get_parallel

    one = torch.ones(3)
    dist.all_reduce(one)
    parts = [torch.empty(3) for _ in range(4)]
    dist.all_gather(parts, one)
    dist.barrier()
    dist.monitored_barrier()
    return [dist.get_world_size(), dist.get_rank(), get_parallel().attn_tp_size, one.tolist(), len(parts)]


def _platform() -> list[Any]:
    from sglang.srt.platforms import current_platform

    return [
        type(current_platform).__name__,
        current_platform.is_out_of_tree(),
        current_platform.get_device_total_memory() >> 20,
        current_platform.get_default_attention_backend(),
        current_platform.get_graph_runner_cls().__name__,
        current_platform.get_full_graph_backend_cls().__name__,
        current_platform.get_speculative_graph_runner_cls("EAGLE", "draft_extend").__name__,
        current_platform.supports_speculative_draft_attention_backend("DFLASH", "fa3"),
    ]


def _pinned() -> list[bool]:
    import torch

    return [torch.zeros(2, pin_memory=True).is_pinned(), torch.empty(2).pin_memory().is_pinned()]


def _streams() -> str:
    import torch

    from ddtree_doctor.engine.host import after_import

    after_import()
    with torch.cuda.stream(torch.cuda.Stream(device="cuda:0")):
        torch.cuda.synchronize()
    torch.zeros(1).record_stream(torch.cuda.current_stream())
    return str(torch.cuda.is_current_stream_capturing())


def _rule() -> dict[str, Any]:
    from types import SimpleNamespace

    from sglang.srt.model_executor.runner import decode_cuda_graph_runner as decode
    from sglang.srt.speculative import eagle_draft_cuda_graph_runner as draft

    from ddtree_doctor.engine.rule_log import RuleLog

    log, runner = RuleLog(), SimpleNamespace(req_to_token_pool=SimpleNamespace(size=9), server_args=_arguments())
    log.listen()
    sizes, _ = decode.get_batch_sizes_to_capture(runner, 5, gathered_buffer_required=True)
    others, _ = draft.get_batch_sizes_to_capture(runner)
    listed, other = log.of(sizes), log.of(others)
    return {"gathering": [sizes, listed.base, listed.inputs], "plain": [others, other.base, other.inputs]}


def _arguments() -> Any:
    from sglang.srt.runtime_context import get_server_args

    return get_server_args()


LOOKS: dict[str, Callable[[], Any]] = {
    "kernel call": _kernel_call,
    "world": _world,
    "platform": _platform,
    "pinned": _pinned,
    "streams": _streams,
    "rule": _rule,
    "environment": lambda: os.environ["SGLANG_RAGGED_VERIFY_MODE"],
}

if __name__ == "__main__":
    serve(inside)
    os._exit(0)
