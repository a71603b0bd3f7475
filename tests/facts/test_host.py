import subprocess
import sys

import pytest

from ddtree_doctor.errors import UsageError
from ddtree_doctor.facts import host
from ddtree_doctor.facts.host import read_host
from ddtree_doctor.facts.nvml import Seen
from ddtree_doctor.facts.packages import Installed


def test_a_host_without_anything_is_a_normal_state(monkeypatch):
    monkeypatch.setattr(host, "see_gpus", lambda: Seen(unknown={"gpus": "no NVIDIA driver answers: none"}))
    monkeypatch.setattr(host, "installed", Installed)
    facts = read_host()
    assert facts.source == "none"
    assert facts.gpus == ()
    assert facts.packages == {}
    assert facts.unknown == {
        "gpus": "no NVIDIA driver answers: none",
        "packages.sglang": "not installed",
        "packages.torch": "not installed",
        "packages.triton": "not installed",
    }


def test_a_named_gpu_stands_in_for_the_machines_own(monkeypatch):
    monkeypatch.setattr(host, "see_gpus", lambda: pytest.fail("NVML is not asked"))
    facts = read_host("sm_120x8")
    assert facts.source == "--gpu"
    assert [gpu.arch for gpu in facts.gpus] == ["sm_120"] * 8
    assert "gpus" not in facts.unknown


def test_a_gpu_that_nobody_knows_is_a_usage_error():
    with pytest.raises(UsageError, match="B999"):
        read_host("B999x8")


@pytest.mark.engine
def test_the_packages_that_the_engine_pins_are_read():
    packages = read_host("H100").packages
    assert packages["sglang"].version == "0.5.23"
    assert {"torch", "triton", "flashinfer-python", "transformers", "xgrammar"} <= set(packages)


@pytest.mark.engine
def test_reading_a_host_is_fast_and_loads_neither_torch_nor_sglang():
    code = (
        "import sys, time; start = time.process_time();"
        "from ddtree_doctor.facts.host import read_host; read_host();"
        "print(time.process_time() - start);"
        "assert not {'torch', 'sglang', 'rich', 'packaging'} & set(sys.modules)"
    )
    runs = [
        float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout) for _ in range(3)
    ]
    assert min(runs) < 0.15, runs


def test_absent_tools_are_not_called(monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("no other program is started"))
    read_host()
