"""DD129: an attention backend that the engine refuses on this GPU."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.rule import Case, Check, Finding

RUNS_ON = {
    "fa3": (8, 9),
    "trtllm_mla": (10, 11, 12),
    "cutedsl_mla": (10,),
    "trtllm_mha": (9, 10, 12),
    "hpc_ops": (9,),
}
"""Backend → major compute capabilities on which some release starts with it; on any other all releases refuse."""

FIELDS = ("attention_backend", "prefill_attention_backend", "decode_attention_backend")


class BackendNotForThisGpu(Check):
    """The attention backend given does not exist for this GPU's architecture."""

    code = "DD129"
    refuses = True
    why = (
        "The backend's kernels are written for certain architectures. SGLang asserts on the compute capability when "
        "it creates the backend, and stops."
    )
    fix = ("--attention-backend triton", "--attention-backend flashinfer")
    references = (
        "https://docs.sglang.io/advanced_features/attention_backend.html",
        "https://github.com/sgl-project/sglang/issues/9140",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """Each backend given against each GPU."""
        given = {name: case.given.text(name) for name in FIELDS}
        named = {name: value.value for name, value in given.items() if value.value in RUNS_ON}
        if not named:
            raise self.skip("no backend given that is tied to an architecture")
        capabilities = sorted({gpu.capability for gpu in case.facts.host.gpus if gpu.capability})
        if not capabilities:
            raise self.skip("no GPU architecture known")
        for name, backend in named.items():
            for major, minor in capabilities:
                if major not in RUNS_ON[str(backend)]:
                    yield self.found(
                        "launch",
                        f"{backend} on sm_{major}{minor}; it runs on "
                        + ", ".join(f"sm_{able}x" for able in RUNS_ON[str(backend)]),
                        at=case.at(name),
                        backend=backend,
                        arch=f"sm_{major}{minor}",
                        runs_on=list(RUNS_ON[str(backend)]),
                    )
