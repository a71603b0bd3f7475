"""DD133: an attention backend without speculative decoding."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.rule import Case, Check, Finding

REFUSING = ("flex_attention", "hpc_ops")
FIELDS = ("attention_backend", "decode_attention_backend", "prefill_attention_backend")


class BackendRefusesSpeculation(Check):
    """The attention backend has no speculative decoding."""

    code = "DD133"
    refuses = True
    why = "The backend has no verify pass, and SGLang stops at start-up rather than decode wrongly."
    fix = ("--attention-backend triton", "--attention-backend flashinfer")
    references = ("https://docs.sglang.io/advanced_features/attention_backend.html",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """The backend of target verify, where the launch names one: no default of the engine refuses."""
        algorithm = self.speculation(case)
        if case.given.flag(*FIELDS) is None:
            raise self.skip("no attention backend given")
        backend = case.settings.attention_backend.need()
        if backend in REFUSING:
            yield self.found(
                f"{algorithm}/target_verify",
                f"{algorithm} with attention backend {backend}, which does not speculate",
                at=case.at(*FIELDS),
                backend=backend,
                algorithm=algorithm,
            )
