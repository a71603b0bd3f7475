"""DD123: speculative decoding with CUDA graphs off."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.rule import Case, Check, Finding

SWITCHES = (
    "disable_cuda_graph",
    "disable_decode_cuda_graph",
    "cuda_graph_backend_decode",
    "cuda_graph_config",
    "attention_backend",
)


class SpeculationWithoutGraphs(Check):
    """Speculative decoding runs with CUDA graphs off."""

    code = "DD123"
    severity = "warning"
    why = (
        "A step of speculation is many small kernels on a few tokens, so without graphs the time goes to launching "
        "them: one deployment lost a 3.8x speed-up that way, another found speculation slower than none. Eager mode is "
        "not always safer either: some faults show only there."
    )
    fix = ("remove the flag that switches graphs off",)
    references = (
        "https://github.com/rmagur1203/vllm-ddtree/blob/ddtree-multireq/docs/DDTREE-FINDINGS-EN.md",
        "https://github.com/sgl-project/sglang/issues/24747",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """Whether decode graphs are off. A prefill server under disaggregation has none by design."""
        algorithm = self.speculation(case)
        if case.given.text("disaggregation_mode").value == "prefill":
            raise self.skip("a prefill server decodes nothing")
        if not case.settings.cuda_graph.need():
            why = case.settings.cuda_graph.why
            yield self.found(
                algorithm,
                f"{algorithm} without CUDA graphs" + (f": {why}" if why else ""),
                at=case.at(*SWITCHES),
                reason=why,
            )
