"""DD005: no GPU was seen or named."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.rule import Case, Check, Finding


class GpuNotKnown(Check):
    """No GPU was seen or named, so nothing that depends on one is judged."""

    code = "DD005"
    severity = "info"
    why = (
        "Which kernels exist, which attention backend is the default and how much memory graphs may take all depend "
        "on the GPU."
    )
    fix = ("doctor check --gpu sm_120x8: judge for the machine that will serve",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """One finding where the host has no GPU of any source."""
        host = case.facts.host
        if not host.gpus:
            reason = host.unknown.get("gpus", "no GPU found on this machine")
            yield self.found("host", f"judged for no particular GPU: {reason}", reason=reason)
