"""What SGLang's plugin groups load. Inert unless the doctor started this process.

SGLang reads the groups `sglang.srt.platforms` and `sglang.srt.plugins` in every process of the user's environment, so
both functions do nothing, and import nothing, unless the doctor set DDTREE_DOCTOR_PROBE. DDTREE_DOCTOR_PLUGIN names
the plugin to add, DDTREE_DOCTOR_PLUGIN_OPTIONS holds its options as JSON. A probe on a GPU sets no SGLANG_PLATFORM:
there the platform stays out as well.
"""

from __future__ import annotations

import json
import os

__all__ = ["platform", "plugins"]


def platform() -> str | None:
    """The dotted name of the recording platform inside a probe on the CPU, None (not activated) everywhere else."""
    asked = "DDTREE_DOCTOR_PROBE" in os.environ and os.environ.get("SGLANG_PLATFORM") == "ddtree_doctor"
    return "ddtree_doctor.engine.platform.RecordingPlatform" if asked else None


def plugins() -> None:
    """Add the doctor's plugin to SGLang's algorithms inside a probe that names one; nothing everywhere else."""
    name = os.environ.get("DDTREE_DOCTOR_PLUGIN")
    if "DDTREE_DOCTOR_PROBE" in os.environ and name:
        from ddtree_doctor.engine.plugins import plugin_named

        plugin_named(name).load()(json.loads(os.environ.get("DDTREE_DOCTOR_PLUGIN_OPTIONS", "{}")))
