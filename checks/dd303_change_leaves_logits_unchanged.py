"""DD303: an input of the pass was changed between two replays and the logits stayed."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.replayed import Replayed, numbers
from ddtree_doctor.rule import Case, Finding


class ChangeLeavesLogitsUnchanged(Replayed):
    """An input of the pass was changed between two replays and the logits stayed as they were."""

    code = "DD303"
    why = (
        "The graph or its attention backend does not read that input: a mask that is ignored verifies a tree as a "
        "chain, positions that are ignored give every node the wrong place. No error is raised."
    )
    fix = (
        "an attention backend that reads the tree mask: --attention-backend triton or flashinfer",
        "in the engine: hand the input to the backend's graph metadata, and copy it in before each replay",
    )
    references = ("https://github.com/sgl-project/sglang/pull/36196",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """Each response that had to change and did not: not beyond the noise of the same pass run twice."""
        for seen in self.behaviours(case):
            for response in seen.responses:
                if response.must == "change" and response.gap.agrees(seen.dtype):
                    yield self.found(
                        seen.subject,
                        f"changing {response.name} moved the logits by {response.gap.size:.3g}, which is within "
                        f"the noise of {response.gap.allowed(seen.dtype):.3g}: it is not read",
                        changed=response.name,
                        **numbers(response.gap, seen.dtype),
                    )
