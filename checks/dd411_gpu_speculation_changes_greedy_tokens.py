"""DD411: DD311 on a GPU, with real CUDA graphs."""

from __future__ import annotations

from ddtree_doctor.checks.dd311_speculation_changes_greedy_tokens import SpeculationChangesGreedyTokens


class GpuSpeculationChangesGreedyTokens(SpeculationChangesGreedyTokens):
    """On a GPU the whole engine answers with other tokens with speculation than without."""

    code = "DD411"
    tier = "replay-gpu"
    host = "gpu"
