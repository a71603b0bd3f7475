"""GPUs of this machine through NVML. No driver, no GPU and a driver that answers in part are normal states."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from ddtree_doctor.facts.model import Gpu

__all__ = ["Seen", "see_gpus"]

T = TypeVar("T")
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What NVML told. `unknown` maps what it did not tell (`gpus`, `driver`, `gpus.0.memory`) to its reason."""

    gpus: tuple[Gpu, ...] = ()
    driver: str | None = None
    unknown: dict[str, str] = field(default_factory=dict)


def see_gpus() -> Seen:
    """Every GPU with name, compute capability and memory; empty with a reason where there is none. Never raises."""
    try:
        import pynvml
    except Exception as fault:  # a broken binding is one more way of having no answer
        return Seen(unknown={"gpus": f"nvidia-ml-py cannot be imported: {fault}"})
    try:
        with _session(pynvml):
            return _look(pynvml)
    except Exception as fault:
        return Seen(unknown={"gpus": f"no NVIDIA driver answers: {_reason(fault)}"})


@contextmanager
def _session(nvml: Any) -> Iterator[None]:
    nvml.nvmlInit()
    try:
        yield
    finally:
        nvml.nvmlShutdown()


def _look(nvml: Any) -> Seen:
    unknown: dict[str, str] = {}

    def ask(what: str, question: Callable[[], T]) -> T | None:
        try:
            return question()
        except Exception as fault:
            unknown[what] = _reason(fault)
            return None

    driver = ask("driver", lambda: _text(nvml.nvmlSystemGetDriverVersion()))
    count = ask("gpus", nvml.nvmlDeviceGetCount) or 0
    if not count:
        unknown.setdefault("gpus", "the NVIDIA driver answers and lists no GPU")
    gpus = []
    for index in range(count):
        handle = ask(f"gpus.{index}", partial(nvml.nvmlDeviceGetHandleByIndex, index))
        if handle is not None:
            gpus.append(_gpu(nvml, handle, index, ask))
    return Seen(gpus=tuple(gpus), driver=driver, unknown=unknown)


def _gpu(nvml: Any, handle: Any, index: int, ask: Callable[[str, Callable[[], Any]], Any]) -> Gpu:
    name = ask(f"gpus.{index}.name", lambda: _text(nvml.nvmlDeviceGetName(handle)))
    capability = ask(f"gpus.{index}.capability", lambda: nvml.nvmlDeviceGetCudaComputeCapability(handle))
    total = ask(f"gpus.{index}.memory", lambda: nvml.nvmlDeviceGetMemoryInfo(handle).total)
    return Gpu(
        name=name or f"GPU {index}",
        capability=None if capability is None else (int(capability[0]), int(capability[1])),
        memory_mib=None if total is None else int(total) // MIB,
    )


def _text(answer: str | bytes) -> str:
    return answer.decode(errors="replace") if isinstance(answer, bytes) else str(answer)


def _reason(fault: Exception) -> str:
    return f"{type(fault).__name__}: {fault}" if str(fault) else type(fault).__name__
