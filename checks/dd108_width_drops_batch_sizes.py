"""DD108: batch sizes that lose their graph because batch size × width is no multiple of what the gather needs."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.contract.model import RoleContract
from ddtree_doctor.rule import Case, Check, Finding


class WidthDropsBatchSizes(Check):
    """Batch sizes lose their own graph because batch size × width is no multiple of mul_base."""

    code = "DD108"
    severity = "warning"
    why = (
        "Where ranks gather their tokens, the engine captures a batch size only if batch size × tokens per request is "
        "a multiple of the ranks. A width that shares no factor with them drops every batch size that is no multiple "
        "itself, without a word. Those batches are padded up to the next captured size: a single request pays for "
        "many, and accepted tokens no longer pay for the verify pass."
    )
    fix = ("a width that is a multiple of mul_base",)
    references = ("https://github.com/sgl-project/sglang/pull/31255",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """Each role's lost batch sizes. A width of 1 can lose none by its width; neither can two-batch overlap."""
        settings = case.settings
        self.speculation(case)
        if not settings.cuda_graph.need():
            raise self.skip("CUDA graphs are off")
        if not settings.gather.need():
            raise self.skip("no gather between ranks, so every batch size is kept")
        if settings.two_batch_overlap.need():
            raise self.skip("under two-batch overlap the batch size alone must divide, whatever the width")
        for role in case.contract.roles:
            width = role.width.need()
            if width > 1 and width % role.mul_base.need() and (lost := role.lost_bs.need()):
                yield self._finding(case, role, lost)

    def _finding(self, case: Case, role: RoleContract, lost: tuple[int, ...]) -> Finding:
        width, mul_base = role.width.need(), role.mul_base.need()
        kept = role.capture_bs.need()
        budgets = role.aligned_budgets
        fix = tuple(f"budget {budget} (width {budget + 1}): keeps all" for budget in budgets)
        return self.found(
            role.subject,
            f"width {width} with mul_base {mul_base} drops batch sizes {_ranges(lost)}; "
            f"the smallest that keeps its graph is {min(kept, default=0)}",
            at=case.at("speculative_ddtree_budget", "speculative_num_draft_tokens", "tp_size"),
            fix=fix or (f"a width that is a multiple of {mul_base}",),
            width=width,
            mul_base=mul_base,
            lost=list(lost),
            kept=list(kept),
            keep_all=list(budgets),
        )


def _ranges(numbers: tuple[int, ...]) -> str:
    """`1-7, 9-15` for the sorted numbers."""
    groups: list[list[int]] = []
    for number in sorted(numbers):
        if groups and number == groups[-1][-1] + 1:
            groups[-1].append(number)
        else:
            groups.append([number])
    return ", ".join(str(g[0]) if len(g) == 1 else f"{g[0]}-{g[-1]}" for g in groups)
