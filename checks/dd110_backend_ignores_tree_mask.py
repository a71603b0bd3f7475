"""DD110: a tree verified by an attention backend that reads no tree mask."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.contract.checkpoint import multi_head_latent
from ddtree_doctor.facts.model import Engine
from ddtree_doctor.rule import Case, Check, Finding

TREES = ("EAGLE", "EAGLE3", "STANDALONE", "NGRAM", "DDTREE")
"""Algorithms that may verify a tree. UNO is not here: the engine holds it to one backend that it is written for."""

READS_BY_TOPK = ("fa3", "fa4")
"""Backends that read the mask only where topk is above 1: a tree whose topk is forced to 1 is a chain to them."""


class BackendIgnoresTreeMask(Check):
    """A tree is verified by an attention backend that reads no tree mask."""

    code = "DD110"
    confidence = "likely"
    why = (
        "In a tree a token may see its ancestors and no other branch; only the tree mask says which those are. A "
        "backend that does not read it attends causally: every node sees the branches before it. Some combinations "
        "are refused at start-up; the others answer, with a healthy /health and wrong tokens."
    )
    fix = ("--attention-backend triton", "--attention-backend flashinfer: for a model without latent attention")
    references = (
        "https://github.com/sgl-project/sglang/pull/36196",
        "https://github.com/sgl-project/sglang/issues/27942",
        "https://github.com/sgl-project/sglang/pull/29907",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """How often the source of the backend that verifies reads the custom mask, for trees only.

        Backends that read it only where topk is above 1 see no tree where the algorithm forces topk to 1 (DDTREE).
        """
        algorithm, settings, engine = self.speculation(case), case.settings, case.facts.engine
        if algorithm not in TREES:
            raise self.skip(f"{algorithm} verifies a chain")
        topk = settings.topk.need()
        if algorithm != "DDTREE" and topk <= 1:
            raise self.skip("topk 1: a chain, not a tree")
        backend = settings.attention_backend.need()
        name, count = _references(engine, backend, latent=multi_head_latent(case.facts.target))
        by_topk = backend in READS_BY_TOPK and topk <= 1
        if count and not by_topk:
            return
        reason = "reads the tree mask only where topk is above 1" if count else "never reads a tree mask"
        yield self.found(
            f"{algorithm}/target_verify",
            f"{algorithm} verifies a tree; {name} {reason}",
            at=case.at("attention_backend", "prefill_attention_backend", "decode_attention_backend"),
            severity="warning" if by_topk and engine.fork else "error",
            backend=name,
            topk=topk,
            mask_references=count,
        )


def _references(engine: Engine, backend: str, *, latent: bool) -> tuple[str, int]:
    """(backend as its source is named, how often that source names the custom mask). Raises NotKnown if not read."""
    for name in ([f"{backend}_mla"] if latent else []) + [backend]:
        if name in engine.mask_references:
            return name, engine.mask_references[name]
    raise engine.not_known(f"attention backend {backend}")
