"""DD404: DD304 on a GPU, with real CUDA graphs."""

from __future__ import annotations

from ddtree_doctor.checks.dd304_equal_passes_give_other_logits import EqualPassesGiveOtherLogits


class GpuEqualPassesGiveOtherLogits(EqualPassesGiveOtherLogits):
    """On a GPU two passes that mean the same give different logits."""

    code = "DD404"
    tier = "replay-gpu"
    host = "gpu"
