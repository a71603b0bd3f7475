"""DD308: a pass ends in an error of the engine."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.replayed import Replayed, scenes
from ddtree_doctor.rule import Case, Finding


class PassEndsInAnError(Replayed):
    """A pass ends in an error of the engine."""

    code = "DD308"
    required = True
    why = "A request of this shape would have ended the server's scheduler, and with it every request in flight."
    fix = (
        "`doctor triage` on the error explains it",
        "--disable-cuda-graph tells whether only the graph is at fault",
    )
    references = ("https://github.com/sgl-project/sglang/pull/29907",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """One finding for each different error of a behaviour."""
        for seen in self.behaviours(case):
            errors = dict.fromkeys(one.error for one in seen.passes if one.error)
            for error in errors:
                bad = [one for one in seen.passes if one.error == error]
                yield self.found(
                    seen.subject,
                    f"{len(bad)} of {len(seen.passes)} passes ({scenes(bad)}) ended in: {error}",
                    error=error,
                    scenarios=[one.scenario for one in bad],
                )
