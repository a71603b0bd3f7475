"""What a launch comes down to: its flags, the engine's defaults, the model configs and the algorithm's rules."""

from __future__ import annotations

from ddtree_doctor.contract.attention import attention_backend, page_size
from ddtree_doctor.contract.checkpoint import context
from ddtree_doctor.contract.given import Given
from ddtree_doctor.contract.graphs import graphs
from ddtree_doctor.contract.model import Settings
from ddtree_doctor.contract.parallelism import parallelism
from ddtree_doctor.contract.speculation import speculation
from ddtree_doctor.contract.values import settle
from ddtree_doctor.facts.model import Facts
from ddtree_doctor.knowledge import Value

__all__ = ["resolve"]


def resolve(facts: Facts) -> Settings:
    """Resolve the settings of a launch. Never raises: what is missing is an unknown Value with its reason."""
    given = Given(facts)
    drafts = speculation(given)
    ranks = parallelism(given)
    backend = attention_backend(given, drafts.algorithm)
    captured = graphs(given, drafts.algorithm, ranks.tp, backend)
    return Settings(
        algorithm=drafts.algorithm,
        num_draft_tokens=drafts.num_draft_tokens,
        num_steps=drafts.num_steps,
        topk=drafts.topk,
        block_size=drafts.block_size,
        budget=drafts.budget,
        multi_layer=drafts.multi_layer,
        tp=ranks.tp,
        dp=ranks.dp,
        attn_tp=ranks.attn_tp,
        attn_cp=ranks.attn_cp,
        dp_attention=ranks.dp_attention,
        gather=ranks.gather,
        two_batch_overlap=ranks.two_batch_overlap,
        attention_backend=backend,
        page_size=page_size(given, backend),
        context_length=settle("context_length", lambda: _context(given)),
        max_running_requests=captured.max_running_requests,
        cuda_graph=captured.cuda_graph,
        cuda_graph_max_bs=captured.cuda_graph_max_bs,
        cuda_graph_bs=captured.cuda_graph_bs,
    )


def _context(given: Given) -> Value[int]:
    told = given.integer("context_length")
    if not told.known or told.value is not None:
        return told
    why = "the target's config.json"
    return Value(name="context_length", value=context(given.facts.target), origin="config", why=why)
