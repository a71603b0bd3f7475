"""DD201: a graph is sized by another number of tokens per request than a pass forwards."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import ledger_of, of_role
from ddtree_doctor.contract.model import RoleContract
from ddtree_doctor.knowledge import NotKnown
from ddtree_doctor.ledger import Row
from ddtree_doctor.rule import Case, Check, Finding


class GraphWidthDiffersFromContract(Check):
    """A graph is captured at another number of tokens per request than one pass of its role forwards."""

    code = "DD201"
    tier = "shape"
    required = True
    why = (
        "Every buffer, reshape and kernel launch of a graph is sized by its tokens per request. A pass of another "
        "width stops at the first request, writes outside the graph's buffers, or, where graph admission compares "
        "widths, runs without a graph and says nothing."
    )
    fix = (
        "in the engine: answer the width by algorithm and role (DFLASH draft: block size; DDTREE target verify: "
        "budget + 1; everything else: draft tokens)",
        "--disable-cuda-graph until then, which gives up the speed of graphs",
    )
    references = (
        "https://github.com/sgl-project/sglang/pull/27509",
        "https://github.com/sgl-project/sglang/pull/29907",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """Each role's width, the runner's against the contract's. UNKNOWN for a role that was not observed."""
        ledger, unjudged = ledger_of(case), None
        if not case.contract.roles:
            raise NotKnown("roles", "the algorithm's roles are not known")
        for demand in case.contract.roles:
            for row in of_role(ledger, demand.role):
                try:
                    yield from self.role(case, row, demand)
                except NotKnown as missing:
                    unjudged = unjudged or missing
        if unjudged:
            raise unjudged

    def role(self, case: Case, row: Row, demand: RoleContract) -> Iterator[Finding]:
        """One runner of one role. Raises NotKnown where either width is missing."""
        if row.unknown:
            raise NotKnown(demand.subject, row.unknown)
        if row.tokens_per_bs is None:
            raise NotKnown(f"width of {row.subject}", "the probe did not record it")
        if row.tokens_per_bs != (expected := demand.width.need()):
            yield self.width(case, row, row.tokens_per_bs, expected)

    def width(self, case: Case, row: Row, observed: int, expected: int) -> Finding:
        """The finding: both numbers, who sized the graph, and the error that a first request would meet."""
        error = (
            f"The size of tensor a ({observed}) must match the size of tensor b ({expected}) "
            "at non-singleton dimension 0"
        )
        return self.found(
            row.subject,
            f"{row.runner or 'the graph runner'} ({row.source or 'source not known'}) captures {observed} tokens per "
            f"request; one pass forwards {expected}. A request would have stopped with: {error}",
            at=case.at("speculative_ddtree_budget", "speculative_num_draft_tokens", "speculative_algorithm"),
            observed=observed,
            expected=expected,
            runner=row.runner,
            source=row.source,
            worker=row.worker,
            error=error,
        )
