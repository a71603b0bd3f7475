"""DD217: a role of the algorithm could not be observed."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import ledger_of, of_role
from ddtree_doctor.knowledge import NotKnown
from ddtree_doctor.rule import Case, Check, Finding


class RoleNotObserved(Check):
    """The runner of a role captured no graph, or the role could not be observed at all (then UNKNOWN)."""

    code = "DD217"
    tier = "shape"
    required = True
    why = (
        "A role without a graph runs eagerly at every step, which costs most of what speculation wins. A role that was "
        "not observed is no evidence of anything: its width may be right or wrong."
    )
    fix = ("doctor replay on the machine that will serve", "in the engine: construct this role's graph runner")

    def judge(self, case: Case) -> Iterator[Finding]:
        """Every role of the contract: whether it has a row, and whether that row holds graphs."""
        ledger, unseen = ledger_of(case), []
        for row in (row for demand in case.contract.roles for row in of_role(ledger, demand.role)):
            if row.unknown:
                unseen.append(f"{row.role} ({row.unknown})")
            elif not row.capture_bs:
                yield self.found(row.subject, f"{row.runner} has an empty capture list", runner=row.runner)
        if unseen:
            raise NotKnown(ledger.algorithm, "; ".join(unseen))
