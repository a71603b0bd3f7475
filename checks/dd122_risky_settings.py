"""DD122: settings that people got hurt by."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.hazard_conditions import reports
from ddtree_doctor.hazards import of_kind
from ddtree_doctor.rule import Case, Check, Finding


class RiskySettings(Check):
    """Settings like these were reported to break speculative decoding."""

    code = "DD122"
    severity = "warning"
    confidence = "reported"
    why = (
        "Somebody met a fault with these flags, variables or settings. A report is no proof that this launch has it; "
        "the source says what was seen and whether the cause is known."
    )
    fix = ("test without the setting named above",)
    references = ("https://github.com/sgl-project/sglang/pull/28034",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """Every hazard of kind `switch` whose conditions all hold."""
        yield from reports(self, case, of_kind("switch"))
