"""DD104: a tree width in an engine that sizes verify graphs by draft tokens."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.contract.layout import Layout, layout_named
from ddtree_doctor.facts.model import Engine
from ddtree_doctor.rule import Case, Check, Finding

TREE = "DDTREE"


class TreeWiderThanItsGraph(Check):
    """Verify forwards budget + 1 tokens a request where this engine sizes the graph by draft tokens."""

    code = "DD104"
    confidence = "likely"
    required = True
    why = (
        "Where nothing in the engine tells the algorithms apart one number, the draft tokens, sizes every graph. The "
        "draft forwards one block, verify a tree of budget + 1 tokens: captured at the one, the first request passes "
        "the other, and a reshape or a kernel launch inside the graph fails or reads beyond its rows."
    )
    fix = (
        "use an engine in which DDTREE answers its own verify width (a plugin needs SGLang 0.5.13.post1 or later)",
        "--disable-cuda-graph: slow, and right only where no other buffer is sized by draft tokens",
    )
    references = (
        "https://github.com/sgl-project/sglang/pull/27509",
        "https://github.com/sgl-project/sglang/pull/29907",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """The width that verify needs against draft tokens, where neither hook nor runner names DDTREE."""
        engine, settings = case.facts.engine, case.settings
        if self.speculation(case) != TREE:
            raise self.skip("every other algorithm verifies its draft tokens")
        layout = layout_named(engine.layout)
        if layout is None:
            raise engine.not_known("layout")
        if _answered(engine, layout):
            raise self.skip(f"layout {layout.name} gives DDTREE a verify width of its own")
        if not settings.cuda_graph.need():
            raise self.skip("CUDA graphs are off")
        budget, drafted = settings.budget.need(), settings.num_draft_tokens.need()
        if budget + 1 == drafted:
            return
        yield self.found(
            f"{TREE}/target_verify",
            f"verify needs {budget + 1} tokens a request (budget {budget} and the root); layout {layout.name} "
            f"captures it at {drafted} draft tokens",
            at=case.at("speculative_ddtree_budget"),
            fix=(f"--speculative-ddtree-budget {drafted - 1}: the one this engine can hold", *self.fix),
            width=budget + 1,
            budget=budget,
            num_draft_tokens=drafted,
            layout=layout.name,
            graph_runner=engine.traits.get("graph_runner"),
        )


def _answered(engine: Engine, layout: Layout) -> bool:
    """Whether DDTREE gets a width of its own: from the graph runner, the enum's hook, or a plugin's own hook."""
    if TREE in engine.traits.get("verify_overrides", ()):
        return True
    if TREE in engine.plugins or "width_by_hook" not in engine.traits:
        return layout.verify_by_algorithm
    return TREE in engine.traits["width_by_hook"]
