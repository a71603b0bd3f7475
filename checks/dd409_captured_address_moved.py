"""DD409: a captured input lies at another address at replay than at capture."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.replayed import Replayed
from ddtree_doctor.rule import Case, Finding


class CapturedAddressMoved(Replayed):
    """A captured input lies at another address at replay than at capture."""

    code = "DD409"
    tier = "replay-gpu"
    host = "gpu"
    why = (
        "A graph keeps the addresses that its kernels were launched with. A tensor that was bound anew since is never "
        "read; the graph goes on with what lies at the old place, which may be anything by now."
    )
    fix = ("in the engine: copy into the captured tensor instead of binding a new one",)
    references = ("https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """One finding for each tensor that moved."""
        for seen in self.behaviours(case):
            for name in seen.moved:
                yield self.found(seen.subject, f"{name} was bound anew after capture", tensor=name)
