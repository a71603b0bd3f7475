"""DD210: attention metadata is narrower than the sequences that a pass may have."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import graphs, too_small
from ddtree_doctor.rule import Case, Check, Finding


class MetadataTooNarrow(Check):
    """Attention metadata of a graph holds fewer requests or cached tokens than a pass may have."""

    code = "DD210"
    tier = "shape"
    why = (
        "The attention backend copies a request's row of req_to_token into its own metadata before each replay. "
        "Metadata that is narrower stops the first request that comes near the context length, long after start-up, "
        "or is written past its end."
    )
    fix = (
        "in the engine: size it by the largest captured batch and the width of req_to_token",
        "--max-running-requests: a multiple of mul_base, where the list was padded beyond the request pool",
        "--context-length: lower it by the verify width until then",
    )
    references = (
        "https://github.com/sgl-project/sglang/issues/30570",
        "https://github.com/sgl-project/sglang/pull/19016",
        "https://github.com/sgl-project/sglang/issues/29695",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """One finding for each metadata buffer that is too small."""
        for row, _ in graphs(case):
            yield from too_small(self, case, row, "metadata")
