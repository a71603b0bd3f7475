"""DD408: DD308 on a GPU, with real CUDA graphs."""

from __future__ import annotations

from ddtree_doctor.checks.dd308_pass_ends_in_an_error import PassEndsInAnError


class GpuPassEndsInAnError(PassEndsInAnError):
    """On a GPU a pass ends in an error of the engine or of CUDA."""

    code = "DD408"
    tier = "replay-gpu"
    host = "gpu"
