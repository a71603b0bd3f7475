"""DD006: a driver older than the CUDA that torch was built for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ddtree_doctor.rule import Case, Check, Finding

OLDEST_DRIVER = {11: 450, 12: 525, 13: 580}
"""CUDA major version → oldest Linux driver branch that runs it (minor-version compatibility)."""


class DriverBelowCuda(Check):
    """The GPU driver is older than the CUDA version that torch was built for."""

    code = "DD006"
    confidence = "likely"
    why = (
        "A CUDA major version runs only on drivers of its own time or later. With an older driver torch finds no GPU "
        "at all. The exception is a forward-compatibility package on data-centre GPUs."
    )
    fix = ("update the driver", "install torch for an older CUDA")
    references = ("https://docs.nvidia.com/deploy/cuda-compatibility/",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """The driver's branch against CUDA's major version, where both are known of this machine."""
        host = case.facts.host
        branch = re.match(r"\d+", host.driver or "")
        if branch is None:
            raise self.skip("no driver version known")
        cuda = _cuda_major(case)
        if cuda is None:
            raise self.skip("torch is not installed, or its CUDA version cannot be read")
        oldest = OLDEST_DRIVER.get(cuda)
        if oldest is not None and int(branch[0]) < oldest:
            yield self.found(
                "host",
                f"driver {host.driver} with torch for CUDA {cuda}, which needs driver {oldest} or later",
                driver=host.driver,
                cuda=cuda,
                oldest_driver=oldest,
            )


def _cuda_major(case: Case) -> int | None:
    """From torch's local version (`2.11.0+cu130`), else from the CUDA runtime wheel that torch depends on."""
    packages = case.facts.host.packages
    torch = packages.get("torch")
    if torch is None:
        return None
    if local := re.search(r"\+cu(\d{2})\d", torch.version):
        return int(local[1])
    runtime = packages.get("nvidia-cuda-runtime")
    major = re.match(r"\d+", runtime.version) if runtime else None
    return int(major[0]) if major else None
