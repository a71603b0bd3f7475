"""DD410: compute-sanitizer reports a bad access, a read of memory that nothing wrote, or a race."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.replayed import Replayed
from ddtree_doctor.rule import Case, Finding


class GpuSanitizerReports(Replayed):
    """Under compute-sanitizer a kernel of a pass accesses memory wrongly."""

    code = "DD410"
    tier = "replay-gpu"
    host = "gpu"
    why = (
        "The sanitizer sees each access of each thread against the allocations of the process. An access outside them "
        "is an illegal memory access on another day's layout; a read of memory that nothing wrote, or a race, gives "
        "other logits from run to run."
    )
    fix = (
        "in the engine: mask the access by the length of its buffer, write before reading, order what races",
        "--attention-backend with another backend until then, if the kernel is the backend's",
    )
    references = (
        "https://docs.nvidia.com/compute-sanitizer/ComputeSanitizer/index.html",
        "https://github.com/sgl-project/sglang/pull/32467",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """One finding for each different report; memcheck's are errors, those of initcheck and racecheck warn."""
        if case.ledger is not None and not any(one.sanitizer for one in case.ledger.behaviours):
            raise self.skip("compute-sanitizer did not run: `doctor replay --sanitizer` runs it")
        for seen in self.behaviours(case):
            for report in seen.reports:
                yield self.found(
                    seen.subject,
                    f"{seen.sanitizer}: {report.access} in {report.where}, at byte {report.offset} of an allocation "
                    f"of {report.size}, in {report.scenario}",
                    severity="error" if seen.sanitizer == "memcheck" else "warning",
                    tool=seen.sanitizer,
                    where=report.where,
                    access=report.access,
                    offset=report.offset,
                    size=report.size,
                    scenario=report.scenario,
                )
