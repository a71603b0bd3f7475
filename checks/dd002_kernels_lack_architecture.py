"""DD002: kernel wheels without code for the GPU."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.facts.archs import carry
from ddtree_doctor.rule import Case, Check, Finding

ALWAYS_USED = ("torch", "sglang-kernel", "sgl-kernel")
"""Distributions whose kernels every launch runs. Others (flash-mla, deep-gemm …) serve only some GPUs by design."""


class KernelsLackArchitecture(Check):
    """A kernel package that every launch uses carries no code for this GPU."""

    code = "DD002"
    why = (
        "A CUDA library holds machine code for the architectures it was built for. On any other GPU the first launch "
        "of a kernel ends with `no kernel image is available for execution on the device`; no other memory fraction, "
        "batch size or graph setting helps."
    )
    fix = ("install a build for this GPU", "use a GPU named above")
    references = (
        "https://github.com/sgl-project/sglang/issues/24302",
        "https://docs.nvidia.com/cuda/blackwell-compatibility-guide/",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """Each always-used package with known architectures against each GPU architecture."""
        host = case.facts.host
        wanted = sorted({gpu.capability for gpu in host.gpus if gpu.capability})
        if not wanted:
            raise self.skip("no GPU architecture known")
        packages = [host.packages[name] for name in ALWAYS_USED if name in host.packages]
        judged = [package for package in packages if package.archs]
        if not judged:
            raise self.skip("no kernel package here whose architectures can be read")
        for package in judged:
            archs = package.archs or ()
            for major, minor in (capability for capability in wanted if not carry(archs, capability)):
                yield self.found(
                    "host",
                    f"{package.name} {package.version} carries {', '.join(archs)}; the GPU is sm_{major}{minor}",
                    package=package.name,
                    version=package.version,
                    carried=list(archs),
                    wanted=f"sm_{major}{minor}",
                )
