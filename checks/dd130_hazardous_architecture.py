"""DD130: a GPU architecture on which people met a fault with a launch like this one."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.hazard_conditions import reports
from ddtree_doctor.hazards import of_kind
from ddtree_doctor.rule import Case, Check, Finding


class HazardousArchitecture(Check):
    """A fault was reported on this GPU architecture with settings like these."""

    code = "DD130"
    severity = "warning"
    confidence = "reported"
    why = (
        "Somebody met a fault on this architecture in a setting like this one. A report is no proof that this launch "
        "has it; the source says what was seen and whether the cause is known. A run on the GPU itself decides."
    )
    fix = ("doctor replay on the GPU: see whether it happens here",)
    references = (
        "https://github.com/sgl-project/sglang/issues/9140",
        "https://github.com/flashinfer-ai/flashinfer/issues/3929",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """Every hazard of kind `architecture` whose conditions all hold."""
        if not case.facts.host.gpus:
            raise self.skip("no GPU known")
        yield from reports(self, case, of_kind("architecture"))
