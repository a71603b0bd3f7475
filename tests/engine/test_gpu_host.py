"""What a probe asks of a GPU host before it starts there."""

from __future__ import annotations

import os
import socket

import pytest
import torch

from ddtree_doctor.engine.gpu_host import ENVIRONMENT, before_import, demand_room, free_port
from ddtree_doctor.probe.child import Failed

GIB = 1 << 30


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch):
    """A GPU of 80 GiB with as much free as the test says."""

    def with_free(gib: int) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (gib * GIB, 80 * GIB))

    return with_free


def test_the_recording_platform_and_the_interpreter_stay_out(monkeypatch: pytest.MonkeyPatch):
    for name in (*ENVIRONMENT, "SGLANG_PLATFORM", "TRITON_INTERPRET"):
        monkeypatch.setenv(name, "before")
    before_import()
    assert "SGLANG_PLATFORM" not in os.environ
    assert "TRITON_INTERPRET" not in os.environ
    assert os.environ["DDTREE_DOCTOR_PROBE"] == "1"


def test_no_gpu_is_said_with_what_to_look_at(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(Failed, match=r"no GPU: torch .* sees none; `nvidia-smi`"):
        demand_room(1)


def test_a_gpu_with_room_is_taken(gpu):
    gpu(8)
    demand_room(6 << 10)


def test_a_gpu_that_others_fill_is_too_busy(gpu):
    gpu(2)
    with pytest.raises(Failed, match="GPU too busy: 2048 of 81920 MiB are free, the probe needs 6144"):
        demand_room(6 << 10)


def test_a_gpu_that_never_has_so_much_is_too_small(gpu):
    gpu(80)
    with pytest.raises(Failed, match="GPU too small: it has 81920 MiB"):
        demand_room(200 << 10)


def test_a_free_port_can_be_bound():
    with socket.socket() as mine:
        mine.bind(("127.0.0.1", free_port()))
