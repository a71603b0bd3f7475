"""DD307: a kernel reads or writes outside every tensor that it was given."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.replayed import Replayed
from ddtree_doctor.replay.record import Access
from ddtree_doctor.rule import Case, Finding


class MemoryTouchedOutsideTensors(Replayed):
    """A kernel reads or writes outside every tensor that it was given."""

    code = "DD307"
    required = True
    why = (
        "On a GPU such an access ends in an illegal memory access, at this launch or at a later one, or it silently "
        "takes or overwrites what lies there. Which of these depends on the memory's layout of the day."
    )
    fix = ("in the engine: mask the access by the length of its buffer, or size the buffer for the captured batch",)
    references = ("https://github.com/sgl-project/sglang/issues/24402",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """One finding for each place, its first access."""
        for seen in self.behaviours(case):
            first: dict[tuple[str, str], Access] = {}
            for access in seen.accesses:
                first.setdefault((access.where, access.access), access)
            for access in first.values():
                yield self.found(
                    seen.subject,
                    f"{access.where}: {access.access} at byte {access.offset} of {access.size}, in {access.scenario}",
                    where=access.where,
                    access=access.access,
                    offset=access.offset,
                    size=access.size,
                    scenario=access.scenario,
                )
