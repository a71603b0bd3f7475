"""What stands in for a GPU host, so that everything above it is SGLang's own.

What is missing on a machine without a GPU decides no shape: the kernel library's CUDA code, pinned memory, the other
ranks, and the streams that a capture runs on. The kernel library is imported without its CUDA code
(calling a kernel fails, by its own name); the ranks are torch's fake process group, in which every collective returns
at once with its own input; streams are none.
"""

from __future__ import annotations

import functools
import gc
import os
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from ddtree_doctor.engine import seams

__all__ = ["ENVIRONMENT", "after_import", "before_import", "graphs_asked_for", "keep_garbage"]

MAX_RANKS = 1024

ENVIRONMENT: Mapping[str, str] = {
    "DDTREE_DOCTOR_PROBE": "1",
    "SGLANG_PLATFORM": "ddtree_doctor",
    "TRITON_INTERPRET": "1",
    # Only rank 0 exists: nobody would ever read from a broadcaster's queue.
    "SGLANG_USE_MESSAGE_QUEUE_BROADCASTER": "false",
    # One list of cores per rank is demanded; all share what this process has.
    "SGLANG_CPU_OMP_THREADS_BIND": "|".join(["0"] * MAX_RANKS),
    # Tensors here are tiny: more threads would only wait for each other, busily.
    "OMP_NUM_THREADS": "1",
    # Decorated functions run as they are: compiling them takes a C++ compiler and longer than all else.
    "TORCHDYNAMO_DISABLE": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "CUDA_VISIBLE_DEVICES": "",
    # Without its library, SGLang leaves NCCL out; with it, 0.5.17 asks for a GPU.
    "SGLANG_NCCL_SO_PATH": "/no NCCL where there is no GPU",
}
"""What the probe's environment holds on top of the user's."""


def before_import() -> None:
    """Prepare this process for importing SGLang: environment, kernel library, custom operators, ranks."""
    os.environ.update(ENVIRONMENT)
    _kernels_without_cuda()
    _memory_unpinned()
    _operators_on_cpu()
    _ranks_without_peers()


def keep_garbage() -> None:
    """Collect no garbage any more: a process that lives for seconds has better to do with a quarter of them."""
    gc.disable()
    gc.collect = lambda *_: 0  # type: ignore[assignment]


def after_import() -> None:
    """Replace, in the loaded SGLang, the streams of a capture, the gate for CPUs and the table of n-grams."""
    # Not at the top: Triton reads TRITON_INTERPRET when it is imported, so that must be set before.
    from ddtree_doctor.engine.replay.launches import interpret_for_good

    interpret_for_good()
    _streams_of_the_host()
    seams.replace("capture context", lambda _: _no_stream_capture)
    if not seams.older():
        seams.replace("capture stream", lambda _: lambda: None)
    elif seams.present("draft extend graphs"):
        seams.assign("draft extend graphs", True)
    seams.replace("decode capture", _capture_on_cpu)
    seams.replace("graph backend", lambda _: _recording_backend())
    _trees_by_triton()


def graphs_asked_for() -> None:
    """Let `ModelRunner.forward` ask its graph runner on a CPU for the modes that it asks for on a GPU."""
    modes = seams.find("forward modes")
    modes.is_cpu_graph = modes.is_cuda_graph


def _streams_of_the_host() -> None:
    """Let what is asked of `torch.cuda`'s streams be answered by `torch.cpu`'s, on which everything runs at once."""
    import torch

    class Stream(torch.cpu.Stream):  # type: ignore[misc]
        def __init__(self, *_: Any, **__: Any) -> None:
            super().__init__()

    torch.cpu.is_current_stream_capturing = lambda: False  # type: ignore[attr-defined]
    torch.Tensor.record_stream = lambda self, stream: None  # type: ignore[method-assign,assignment]
    for name in ("Event", "stream", "current_stream", "synchronize", "is_current_stream_capturing"):
        setattr(torch.cuda, name, getattr(torch.cpu, name))
    torch.cuda.Stream = Stream  # type: ignore[misc]


def _trees_by_triton() -> None:
    """Build trees, read them off masks and walk them by the Triton kernels that SGLang has for XPUs."""
    for name in ("tree kernels", "mask kernels", "slot kernels"):
        if seams.present(name):
            seams.assign(name, True)


def _recording_backend() -> type:
    from ddtree_doctor.engine.backend import RecordingBackend

    return RecordingBackend


def _kernels_without_cuda() -> None:
    """Let `sgl_kernel` import without a driver: its operators stay unregistered, so that calling one fails by name."""
    loader: Any = types.ModuleType("sgl_kernel.load_utils")
    loader._load_architecture_specific_ops = lambda: types.ModuleType("common_ops")
    loader._preload_cuda_library = lambda: None
    sys.modules[loader.__name__] = loader


def _memory_unpinned() -> None:
    """Let host tensors that are to be pinned for a GPU stay as they are."""
    import torch

    for name in ("tensor", "empty", "zeros", "ones", "full", "arange"):
        setattr(torch, name, _unpinned(getattr(torch, name)))
    torch.Tensor.pin_memory = lambda self, *_, **__: self


def _unpinned(create: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(create)
    def created(*args: Any, **options: Any) -> Any:
        options.pop("pin_memory", None)
        return create(*args, **options)

    return created


def _operators_on_cpu() -> None:
    """Register for the CPU what SGLang registers for an out-of-tree device (PrivateUse1).

    torch registers operators of its own for both; those stay as they are.
    """
    from torch.library import Library

    register = Library.impl

    def impl(self: Any, name: Any, function: Any, dispatch_key: str = "", **options: Any) -> Any:
        outside = self.ns == "sglang" and dispatch_key == "PrivateUse1"
        return register(self, name, function, "CPU" if outside else dispatch_key, **options)

    Library.impl = impl


def _ranks_without_peers() -> None:
    """Let every process group be torch's fake one: all ranks exist, only this one runs."""
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore

    init, new_group = dist.init_process_group, dist.new_group

    def init_process_group(*_: Any, world_size: int = 1, rank: int = 0, **__: Any) -> None:
        init(backend="fake", store=FakeStore(), world_size=world_size, rank=rank)

    def group(ranks: Any = None, *_: Any, group_desc: str | None = None, **__: Any) -> Any:
        return new_group(ranks, backend="fake", group_desc=group_desc)

    dist.init_process_group, dist.new_group = init_process_group, group
    dist.monitored_barrier = lambda *_, **__: None


@contextmanager
def _no_stream_capture(stream: Any = None) -> Iterator[Any]:
    yield SimpleNamespace(stream=None)


def _graphs_off() -> bool:
    return bool(seams.find("graph switch")(seams.find("graph phases").DECODE, seams.find("graph backends").DISABLED))


def _capture_on_cpu(original: Any) -> Any:
    """SGLang has no graphs on a CPU and declines; where it did, build the runner that it builds on a GPU."""

    def capture_decode_graph(*, model_runner: Any) -> Any:
        declined = original(model_runner=model_runner)
        if declined.runner is not None or _graphs_off():
            return declined
        runner = seams.field(model_runner, "decode runner's class")()
        return type(declined)(
            runner=runner(model_runner),
            memory_phase=declined.memory_phase,
            memory_usage_gb=0.0,
            capture_time=0.0,
        )

    return capture_decode_graph
