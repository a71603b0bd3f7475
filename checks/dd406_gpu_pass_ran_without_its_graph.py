"""DD406: DD306 on a GPU, with real CUDA graphs."""

from __future__ import annotations

from ddtree_doctor.checks.dd306_pass_ran_without_its_graph import PassRanWithoutItsGraph


class GpuPassRanWithoutItsGraph(PassRanWithoutItsGraph):
    """On a GPU a pass that fits the captured graphs ran eager, without a word."""

    code = "DD406"
    tier = "replay-gpu"
    host = "gpu"
