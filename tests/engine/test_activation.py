"""The plugin entry points leave a user's engine alone unless the doctor started the process."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

OURS = ("DDTREE_DOCTOR_", "SGLANG_PLATFORM")


def python(body: str, **environment: str) -> str:
    """What a fresh interpreter prints that runs `body` in an environment without the doctor's own variables."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    run = subprocess.run(
        [sys.executable, "-c", body], env=clean | environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return run.stdout.strip()


@pytest.mark.parametrize("group", ["sglang.srt.platforms", "sglang.srt.plugins"])
def test_the_entry_points_are_installed(group: str):
    assert "ddtree_doctor" in {point.name for point in entry_points(group=group)}


def test_outside_a_probe_nothing_is_activated_and_nothing_is_imported():
    body = (
        "import sys; from ddtree_doctor.engine.activation import platform, plugins\n"
        "print(platform(), plugins(), [name for name in ('torch', 'sglang', 'ddtree_doctor.engine.platform')"
        " if name in sys.modules])"
    )
    assert python(body) == "None None []"


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        pytest.param(
            {"DDTREE_DOCTOR_PROBE": "1", "SGLANG_PLATFORM": "ddtree_doctor"},
            "ddtree_doctor.engine.platform.RecordingPlatform",
            id="a probe on the CPU",
        ),
        pytest.param({"DDTREE_DOCTOR_PROBE": "1"}, "None", id="a probe on a GPU"),
        pytest.param({"SGLANG_PLATFORM": "ddtree_doctor"}, "None", id="no probe"),
    ],
)
def test_the_recording_platform_is_for_probes_on_the_cpu(environment: dict[str, str], named: str):
    body = "from ddtree_doctor.engine.activation import platform; print(platform())"
    assert python(body, **environment) == named


def test_a_plugin_without_a_probe_is_not_added():
    body = "import sys; from ddtree_doctor.engine.activation import plugins; plugins(); print('sglang' in sys.modules)"
    assert python(body, DDTREE_DOCTOR_PLUGIN="ddtree") == "False"


@pytest.mark.engine
@pytest.mark.slow
def test_a_plain_engine_beside_the_installed_doctor_is_untouched():
    body = (
        "import sys, torch\n"
        "before = (torch.empty, torch.cuda.Stream, torch.library.Library.impl, torch.distributed.new_group)\n"
        "from sglang.srt.platforms import current_platform\n"
        "from sglang.srt.plugins import load_plugins; load_plugins()\n"
        "from sglang.srt.speculative.spec_registry import _REGISTRY\n"
        "after = (torch.empty, torch.cuda.Stream, torch.library.Library.impl, torch.distributed.new_group)\n"
        "ours = sorted(name for name in sys.modules if name.startswith('ddtree_doctor'))\n"
        "print(type(current_platform).__module__, sorted(_REGISTRY), before == after, ours)"
    )
    module, *rest = python(body).splitlines()[-1].split(" ", 1)
    assert module.startswith("sglang.srt.platforms")
    assert rest == ["[] True ['ddtree_doctor', 'ddtree_doctor.engine', 'ddtree_doctor.engine.activation']"]
