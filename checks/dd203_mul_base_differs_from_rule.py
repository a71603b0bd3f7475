"""DD203: the capture list was filtered by another mul_base than the ranks ask for."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import demanded_base, fed, graphs
from ddtree_doctor.rule import Case, Check, Finding


class MulBaseDiffersFromRule(Check):
    """The capture list is filtered by another mul_base than two-batch overlap, gather and context parallel ask for."""

    code = "DD203"
    tier = "shape"
    why = (
        "A graph's tokens are scattered over the attention-TP ranks, split over the context-parallel ranks and halved "
        "by two-batch overlap. A size whose tokens do not divide by all of them fails in a collective or gives one "
        "rank fewer rows than it expects."
    )
    fix = ("in the engine: mul_base = (2 under overlap) × (attention-TP under gather), × context parallel if need be",)
    references = ("https://github.com/sgl-project/sglang/pull/30242",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """The runner's mul_base against that of its ranks."""
        for row, _ in graphs(case):
            if row.mul_base is not None and row.mul_base != (expected := demanded_base(row)):
                ranks = {name: fed(row, name) for name in ("attn_tp", "attn_cp", "gather", "two_batch_overlap")}
                yield self.found(
                    row.subject,
                    f"mul_base is {row.mul_base}; attention-TP {ranks['attn_tp']} "
                    f"{'with' if ranks['gather'] else 'without'} gather, context parallel {ranks['attn_cp']} and "
                    f"two-batch overlap {'on' if ranks['two_batch_overlap'] else 'off'} ask for {expected}",
                    at=case.at("tp_size"),
                    observed=row.mul_base,
                    expected=expected,
                    **ranks,
                )
