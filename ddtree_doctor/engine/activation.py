"""What SGLang's plugin groups load. Inert unless the doctor started this process.

SGLang reads the groups `sglang.srt.platforms` and `sglang.srt.plugins` in every process of the user's environment, so
both functions do nothing, and import nothing, unless the doctor set DDTREE_DOCTOR_PROBE.
"""

from __future__ import annotations

import os

__all__ = ["platform", "plugins"]


def platform() -> str | None:
    """The dotted name of the recording platform inside a probe, None (not activated) everywhere else."""
    return None if "DDTREE_DOCTOR_PROBE" not in os.environ else "ddtree_doctor.engine.platform.RecordingPlatform"


def plugins() -> None:
    """Do nothing outside a probe."""
