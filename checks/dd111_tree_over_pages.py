"""DD111: a tree whose KV pages hold more than one token, where that is not wired."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.rule import Case, Check, Finding

STEPPED = ("flashinfer", "fa3", "triton")
PAGED_TREES = {"NGRAM": ("flashinfer",), "EAGLE": STEPPED, "EAGLE3": STEPPED, "STANDALONE": STEPPED, "DDTREE": ()}
"""Algorithm → attention backends whose trees may live on pages of more than one token, in some release."""


class TreeOverPages(Check):
    """A tree is verified with a page size above 1 where branches cannot share pages."""

    code = "DD111"
    why = (
        "Branches of a tree share their prefix and part inside a page, so with pages of several tokens a branch needs "
        "its own copy of the last page. Only some backends do that; elsewhere SGLang refuses to start, or accepted "
        "tokens end up on pages of a rejected branch."
    )
    fix = ("--page-size 1",)
    references = (
        "https://github.com/sgl-project/sglang/pull/29907",
        "https://github.com/sgl-project/sglang/pull/36196",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """Page size against the backends that can split a page between branches, for trees only.

        NGRAM: flashinfer. EAGLE, EAGLE3, STANDALONE: those that this engine lists. DDTREE: none in any fork known.
        """
        algorithm, settings = self.speculation(case), case.settings
        if algorithm not in PAGED_TREES:
            raise self.skip(f"{algorithm} verifies no tree, or settles its pages itself")
        if algorithm != "DDTREE" and settings.topk.need() <= 1:
            raise self.skip("topk 1: a chain, not a tree")
        if settings.page_size.need() <= 1:
            return
        able = PAGED_TREES[algorithm]
        if able is STEPPED:
            able = case.facts.engine.traits.get("paged_tree_backends", STEPPED)
        backend = settings.attention_backend.need() if able else settings.attention_backend.value
        if backend not in able:
            page = settings.page_size.need()
            yield self.found(
                f"{algorithm}/target_verify",
                f"page size {page} with a {algorithm} tree on {backend or 'the default backend'}; "
                + (f"trees over pages work on {', '.join(able)}" if able else "this tree needs page size 1"),
                at=case.at("page_size", "attention_backend"),
                confidence="certain" if able else "likely",
                fix=(*self.fix, *(f"--attention-backend {name}" for name in able[:1])),
                page_size=page,
                attention_backend=backend,
                supported=list(able),
            )
