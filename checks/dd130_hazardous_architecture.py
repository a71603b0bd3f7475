"""DD130: a GPU architecture on which people met a fault with a launch like this one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ddtree_doctor.hazard_conditions import reports
from ddtree_doctor.hazards import of_kind
from ddtree_doctor.measured import MEASURED, measured_like, said
from ddtree_doctor.replay.arch import ArchLedger
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
        """Every hazard of kind `architecture` whose conditions all hold, with what was measured there beside it.

        What was measured to fail with this algorithm, backend and width on this architecture is a finding of its own.
        """
        if not case.facts.host.gpus:
            raise self.skip("no GPU known")
        yield from self.measured(case, MEASURED)
        quoted = [said(run, cell) for run, cell in measured_like(case, MEASURED)]
        for report in reports(self, case, of_kind("architecture")):
            told = f"{report.message}; measured: {'; '.join(quoted)}" if quoted else report.message
            yield replace(report, message=told, evidence={**report.evidence, "measured": quoted})

    def measured(self, case: Case, ledgers: Mapping[str, ArchLedger]) -> Iterator[Finding]:
        """A finding for each cell like this launch that failed where it was measured."""
        for run, cell in measured_like(case, ledgers):
            if cell.verdict == "failed":
                yield self.found(
                    f"{cell.algorithm} on {cell.backend}",
                    f"measured to fail: {said(run, cell)}",
                    provenance="measured here",
                    findings=list(cell.findings),
                    width=cell.width,
                    page_size=cell.page_size,
                    sglang=run.sglang,
                    date=run.date,
                )
