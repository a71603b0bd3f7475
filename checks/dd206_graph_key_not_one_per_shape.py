"""DD206: two graphs share a key, or a key names another size than the graph has."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import graphs, key_size, requests
from ddtree_doctor.ledger import Row
from ddtree_doctor.rule import Case, Check, Finding


class GraphKeyNotOnePerShape(Check):
    """A graph's key is shared by another geometry, or names neither its requests nor its tokens."""

    code = "DD206"
    tier = "shape"
    why = (
        "Replay finds a graph by its key. Where one key stands for two geometries, or for another size than the graph "
        "was captured at, a batch replays a graph of other requests × width: garbage or an illegal access at the first "
        "replay of that size."
    )
    fix = ("in the engine: make the key of requests (of tokens in a ragged verify), the same at capture and replay",)
    references = ("https://github.com/local-inference-lab/vllm/issues/396",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """Each captured key of each row."""
        for row, _ in graphs(case):
            yield from self.shared(row)
            yield from self.misnamed(row)

    def shared(self, row: Row) -> Iterator[Finding]:
        """Keys under which graphs of more than one geometry were captured."""
        geometries: dict[str, set[tuple[int, int]]] = {}
        for graph in row.captured:
            geometries.setdefault(graph.key, set()).add((graph.bs, graph.tokens))
        for key, shapes in geometries.items():
            if len(shapes) > 1:
                named = ", ".join(f"{bs} requests × {tokens} tokens" for bs, tokens in sorted(shapes))
                yield self.found(row.subject, f"one key, {key}, stands for {named}", key=key, shapes=sorted(shapes))

    def misnamed(self, row: Row) -> Iterator[Finding]:
        """Keys whose size is neither the graph's requests nor its tokens; one finding for all of them."""
        wrong = {
            graph.key: graph
            for graph in row.captured
            if key_size(graph) not in (None, graph.bs, graph.tokens, requests(row, graph))
        }
        if wrong:
            key, graph = next(iter(wrong.items()))
            yield self.found(
                row.subject,
                f"{len(wrong)} graph(s) have a key of another size, such as {key} for {graph.bs} requests and "
                f"{graph.tokens} tokens",
                keys={key: [graph.bs, graph.tokens] for key, graph in wrong.items()},
            )
