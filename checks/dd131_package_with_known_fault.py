"""DD131: a package version in which a fault is known."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.hazard_conditions import reports
from ddtree_doctor.hazards import of_kind
from ddtree_doctor.rule import Case, Check, Finding


class PackageWithKnownFault(Check):
    """A fault is known in the installed version of a package, with settings like these."""

    code = "DD131"
    severity = "warning"
    confidence = "reported"
    why = (
        "The fault was reported for this version, or mended in a later one. The source says what was seen, and "
        "whether the later version really carries the cure for this backend."
    )
    fix = ("a version outside the range named above",)
    references = ("https://github.com/flashinfer-ai/flashinfer/pull/4237",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """Every hazard of kind `package` whose conditions all hold."""
        yield from reports(self, case, of_kind("package"))
