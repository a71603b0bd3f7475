"""DD401: DD301 on a GPU, with real CUDA graphs."""

from __future__ import annotations

from ddtree_doctor.checks.dd301_replay_differs_from_eager import ReplayDiffersFromEager


class GpuReplayDiffersFromEager(ReplayDiffersFromEager):
    """On a GPU a graph's replay gives other logits than the eager forward of the same batch."""

    code = "DD401"
    tier = "replay-gpu"
    host = "gpu"
