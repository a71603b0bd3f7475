"""DD312: with CUDA graphs the engine answers greedily with other tokens than without, speculation or none."""

from __future__ import annotations

from ddtree_doctor.checks.whole import Whole
from ddtree_doctor.replay.engine_run import EngineRun


class GraphsChangeGreedyTokens(Whole):
    """Without speculation the whole engine answers with other tokens under CUDA graphs than eager."""

    code = "DD312"
    why = (
        "A graph computes what the eager forward computes. Where the plain decode graph already does not, the fault is "
        "no matter of speculation, and every answer of this engine is in doubt."
    )
    fix = (
        "see what `doctor replay` finds in the decode passes of the launch without its speculation",
        "--disable-cuda-graph until then",
    )
    references = ("https://github.com/sgl-project/sglang/issues/9687",)
    nothing = "CUDA graphs are off in this launch"

    def looks_at(self, run: EngineRun) -> bool:
        """The run with graphs and without speculation."""
        return run.graphs and not run.speculation
