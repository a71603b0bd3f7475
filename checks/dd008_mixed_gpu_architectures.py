"""DD008: GPUs of different architectures in one launch."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.rule import Case, Check, Finding


class MixedGpuArchitectures(Check):
    """The GPUs of one launch are of different architectures."""

    code = "DD008"
    severity = "warning"
    why = (
        "Every rank picks its kernels by its own GPU, while defaults such as the attention backend are settled once. "
        "Ranks with different kernels round differently and can accept different tokens, which ends in a collective "
        "that waits for ever."
    )
    fix = ("CUDA_VISIBLE_DEVICES=…: serve on GPUs of one architecture",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """One finding where more than one architecture is known among more GPUs than one."""
        gpus = case.facts.host.gpus
        if len(gpus) < 2:
            raise self.skip("fewer than two GPUs known")
        archs = sorted({gpu.arch for gpu in gpus if gpu.arch})
        if len(archs) > 1 and case.settings.tp.need() > 1:
            yield self.found("host", f"GPUs of {' and '.join(archs)} would serve one launch", archs=archs)
