"""DD407: DD307 on a GPU, with real CUDA graphs."""

from __future__ import annotations

from ddtree_doctor.checks.dd307_memory_touched_outside_tensors import MemoryTouchedOutsideTensors


class GpuGuardBandOverwritten(MemoryTouchedOutsideTensors):
    """On a GPU the guard band beside a static buffer was overwritten."""

    code = "DD407"
    tier = "replay-gpu"
    host = "gpu"
