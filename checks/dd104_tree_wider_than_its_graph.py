"""DD104: a tree width in an engine that sizes verify graphs by draft tokens alone."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.contract.layout import layout_named
from ddtree_doctor.rule import Case, Check, Finding


class TreeWiderThanItsGraph(Check):
    """Verify forwards budget + 1 tokens a request where this engine sizes the graph by draft tokens."""

    code = "DD104"
    confidence = "likely"
    required = True
    why = (
        "In this layout one number, the draft tokens, sizes the graphs of every algorithm. The draft forwards one "
        "block, verify a tree of budget + 1 tokens: captured at the one, the first request passes the other, and a "
        "reshape or a kernel launch inside the graph fails or reads beyond its rows."
    )
    fix = (
        "use SGLang 0.5.13.post1 or later, where an algorithm can answer its own verify width",
        "--disable-cuda-graph: slow, and right only where no other buffer is sized by draft tokens",
    )
    references = (
        "https://github.com/sgl-project/sglang/pull/27509",
        "https://github.com/sgl-project/sglang/pull/29907",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """The width that verify needs against draft tokens, in layouts without a width hook."""
        engine, settings = case.facts.engine, case.settings
        if self.speculation(case) != "DDTREE":
            raise self.skip("every other algorithm verifies its draft tokens")
        if not engine.layout:
            raise engine.not_known("layout")
        layout = layout_named(engine.layout)
        if layout is None or layout.verify_by_algorithm:
            raise self.skip(f"layout {engine.layout} lets an algorithm answer its own verify width")
        if "DDTREE" in engine.traits.get("verify_overrides", {}):
            raise self.skip("this fork's graph runner gives DDTREE a width of its own")
        if not settings.cuda_graph.need():
            raise self.skip("CUDA graphs are off")
        budget, drafted = settings.budget.need(), settings.num_draft_tokens.need()
        if budget + 1 != drafted:
            width = budget + 1
            yield self.found(
                "DDTREE/target_verify",
                f"verify needs {width} tokens a request (budget {budget} and the root); layout {layout.name} "
                f"(SGLang {layout.releases}) captures at {drafted} draft tokens",
                at=case.at("speculative_ddtree_budget"),
                fix=(f"budget {drafted - 1}: the one width that this layout can hold", *self.fix),
                width=width,
                budget=budget,
                num_draft_tokens=drafted,
                layout=layout.name,
            )
