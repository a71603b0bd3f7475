"""DD109: more running requests than the largest captured batch."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.rule import Case, Check, Finding


class MoreRequestsThanCaptured(Check):
    """More requests may run at once than the largest captured batch holds."""

    code = "DD109"
    severity = "warning"
    why = (
        "A batch above the largest captured size runs without graphs: slower at the very moment of most load. In "
        "several releases that path met buffers sized by the largest captured batch and crashed, or read rows of "
        "another request."
    )
    fix = (
        "--cuda-graph-max-bs-decode: at least --max-running-requests",
        "--max-running-requests: the largest captured size",
    )
    references = (
        "https://github.com/sgl-project/sglang/pull/37531",
        "https://github.com/sgl-project/sglang/issues/28569",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """Requests per data-parallel group against each target role's largest captured batch size."""
        settings = case.settings
        self.speculation(case)
        if not settings.cuda_graph.need():
            raise self.skip("CUDA graphs are off")
        groups = settings.dp.need() if settings.dp_attention.need() else 1
        running = settings.max_running_requests.need() // max(groups, 1)
        default = "" if settings.max_running_requests.origin == "given" else " by default"
        for role in case.contract.roles:
            largest = max(role.capture_bs.need(), default=0)
            if role.worker == "target" and running > largest:
                yield self.found(
                    role.subject,
                    f"up to {running} requests run at once{default}; the largest captured batch is {largest}",
                    at=case.at("max_running_requests", "cuda_graph_max_bs_decode", "cuda_graph_bs_decode"),
                    fix=(
                        f"{case.spelled('cuda_graph_max_bs_decode', 'cuda_graph_max_bs')} {running}",
                        f"--max-running-requests {largest * max(groups, 1)}",
                    ),
                    running=running,
                    largest=largest,
                )
