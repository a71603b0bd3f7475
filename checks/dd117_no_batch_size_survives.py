"""DD117: a capture list of which nothing is left."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.contract.model import RoleContract
from ddtree_doctor.rule import Case, Check, Finding


class NoBatchSizeSurvives(Check):
    """No configured batch size can be captured, so the engine stops at start-up."""

    code = "DD117"
    refuses = True
    why = (
        "Of the batch sizes configured only those are captured whose tokens divide over the gathering ranks. If none "
        "does, the list is empty and SGLang ends with an assertion on it while it captures."
    )
    fix = ("--cuda-graph-max-bs-decode: at least mul_base",)
    references = ("https://github.com/sgl-project/sglang/pull/31255",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """Each role's capture list. With mul_base 1 every size is captured."""
        if not case.settings.cuda_graph.need():
            raise self.skip("CUDA graphs are off")
        if not case.contract.roles:
            raise self.skip("no role of this algorithm is known")
        for role in case.contract.roles:
            if role.mul_base.need() > 1 and role.capture_bs.need() == ():
                yield self._finding(case, role, role.mul_base.need(), list(role.lost_bs.need()))

    def _finding(self, case: Case, role: RoleContract, mul_base: int, lost: list[int]) -> Finding:
        width, flag = role.width.need(), case.spelled("cuda_graph_bs_decode", "cuda_graph_bs")
        return self.found(
            role.subject,
            f"no batch size is left: none of {lost} × width {width} is a multiple of {mul_base}",
            at=case.at("cuda_graph_bs_decode", "cuda_graph_bs", "cuda_graph_max_bs_decode", "cuda_graph_max_bs"),
            fix=(f"{flag} {mul_base}, or a list that holds a multiple of it",),
            width=width,
            mul_base=mul_base,
            lost=lost,
        )
