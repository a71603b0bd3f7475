import sys
from types import SimpleNamespace

from ddtree_doctor.facts.model import Gpu
from ddtree_doctor.facts.nvml import see_gpus


class NVMLError(Exception):
    pass


def refuse(*_):
    raise NVMLError("Not Supported")


def binding(**overrides):
    """The answers of the real binding for one H200, with what `overrides` replaces: the wire alone is faked."""
    answers = {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlSystemGetDriverVersion": lambda: b"580.159.04",
        "nvmlDeviceGetCount": lambda: 1,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetName": lambda handle: "NVIDIA H200",
        "nvmlDeviceGetCudaComputeCapability": lambda handle: (9, 0),
        "nvmlDeviceGetMemoryInfo": lambda handle: SimpleNamespace(total=143771 * 1024 * 1024),
    }
    return SimpleNamespace(**{**answers, **overrides})


def test_a_gpu_is_seen_with_its_driver(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", binding())
    seen = see_gpus()
    assert seen.gpus == (Gpu(name="NVIDIA H200", capability=(9, 0), memory_mib=143771),)
    assert seen.driver == "580.159.04"
    assert not seen.unknown


def test_no_driver_is_a_state_with_a_reason(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", binding(nvmlInit=refuse))
    seen = see_gpus()
    assert seen.gpus == ()
    assert "no NVIDIA driver answers" in seen.unknown["gpus"]


def test_no_binding_is_a_state_with_a_reason(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert "cannot be imported" in see_gpus().unknown["gpus"]


def test_a_driver_without_a_gpu_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", binding(nvmlDeviceGetCount=lambda: 0))
    assert "lists no GPU" in see_gpus().unknown["gpus"]


def test_what_the_driver_refuses_is_left_out_and_named(monkeypatch):
    monkeypatch.setitem(
        sys.modules, "pynvml", binding(nvmlDeviceGetMemoryInfo=refuse, nvmlSystemGetDriverVersion=refuse)
    )
    seen = see_gpus()
    assert seen.gpus == (Gpu(name="NVIDIA H200", capability=(9, 0)),)
    assert set(seen.unknown) == {"driver", "gpus.0.memory"}


def test_one_lost_gpu_does_not_hide_the_others(monkeypatch):
    def handle(index):
        return refuse() if index == 0 else index

    monkeypatch.setitem(sys.modules, "pynvml", binding(nvmlDeviceGetCount=lambda: 2, nvmlDeviceGetHandleByIndex=handle))
    seen = see_gpus()
    assert len(seen.gpus) == 1
    assert set(seen.unknown) == {"gpus.0"}
