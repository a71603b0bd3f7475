"""DD412: DD312 on a GPU, with real CUDA graphs."""

from __future__ import annotations

from ddtree_doctor.checks.dd312_graphs_change_greedy_tokens import GraphsChangeGreedyTokens


class GpuGraphsChangeGreedyTokens(GraphsChangeGreedyTokens):
    """On a GPU the whole engine answers with other tokens under CUDA graphs than eager, without speculation."""

    code = "DD412"
    tier = "replay-gpu"
    host = "gpu"
