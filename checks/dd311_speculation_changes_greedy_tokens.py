"""DD311: with speculation the engine answers greedily with other tokens than without."""

from __future__ import annotations

from ddtree_doctor.checks.whole import Whole
from ddtree_doctor.replay.engine_run import EngineRun


class SpeculationChangesGreedyTokens(Whole):
    """With speculation the whole engine answers with other tokens than without."""

    code = "DD311"
    why = (
        "Speculation may change how fast an answer comes, never what it says: greedily, each token that verify lets "
        "pass is the one that the target alone would have chosen. Where it is not, wrong text is served."
    )
    fix = (
        "see what `doctor replay` finds in the verify passes, or in the rows that are kept after them",
        "--disable-cuda-graph if the answers are the same without graphs, no speculation otherwise, until it is mended",
    )
    references = (
        "https://arxiv.org/abs/2211.17192",
        "https://github.com/sgl-project/sglang/issues/28569",
    )
    nothing = "this launch does not speculate"

    def looks_at(self, run: EngineRun) -> bool:
        """The runs with speculation."""
        return run.speculation
