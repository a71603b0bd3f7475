"""DD402: DD302 on a GPU, with real CUDA graphs."""

from __future__ import annotations

from ddtree_doctor.checks.dd302_tree_row_differs_from_its_path import TreeRowDiffersFromItsPath


class GpuTreeRowDiffersFromItsPath(TreeRowDiffersFromItsPath):
    """On a GPU a node of the tree gets other logits than a plain forward over the prefix and the path to it."""

    code = "DD402"
    tier = "replay-gpu"
    host = "gpu"
