"""DD403: DD303 on a GPU, with real CUDA graphs."""

from __future__ import annotations

from ddtree_doctor.checks.dd303_change_leaves_logits_unchanged import ChangeLeavesLogitsUnchanged


class GpuChangeLeavesLogitsUnchanged(ChangeLeavesLogitsUnchanged):
    """On a GPU an input of the pass was changed between two replays and the logits stayed as they were."""

    code = "DD403"
    tier = "replay-gpu"
    host = "gpu"
