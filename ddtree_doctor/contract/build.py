"""`build`: the contract of a launch, from facts alone."""

from __future__ import annotations

from ddtree_doctor.contract.capture import Capture, aligned_budgets, capture, mul_base
from ddtree_doctor.contract.given import Given
from ddtree_doctor.contract.graphs import request_pool
from ddtree_doctor.contract.model import Contract, RoleContract, Settings
from ddtree_doctor.contract.parallelism import Parallelism, parallelism
from ddtree_doctor.contract.settings import resolve
from ddtree_doctor.contract.values import derived, settle
from ddtree_doctor.contract.widths import Terms, Width, widths
from ddtree_doctor.facts.model import Facts
from ddtree_doctor.knowledge import NotKnown, Value

__all__ = ["build"]


def build(facts: Facts) -> Contract:
    """The settings of a launch and the demand for each role of its algorithm. Never raises: see `resolve`."""
    at = Terms(settings=resolve(facts), facts=facts)
    ranks = parallelism(Given(facts))
    roles = tuple(_role(at, ranks, name, width) for name, width in widths(at).items())
    return Contract(settings=at.settings, roles=roles)


def _role(at: Terms, ranks: Parallelism, role: str, rule: Width) -> RoleContract:
    width = settle("width", lambda: derived("width", _positive(rule.of(at)), rule.formula))
    base = settle("mul_base", lambda: _base(at, ranks, rule))
    found = settle("capture_bs", lambda: _captured(at, ranks, rule, width, base))
    return RoleContract(
        algorithm=at.settings.algorithm.need(),
        role=role,
        worker=rule.worker,
        width=width,
        mul_base=base,
        capture_bs=settle("capture_bs", lambda: derived("capture_bs", found.need().sizes, found.why)),
        lost_bs=settle("lost_bs", lambda: derived("lost_bs", found.need().lost, found.why)),
        aligned_budgets=_budgets(at.settings, found.value) if rule.by_budget else (),
    )


def _positive(width: int) -> int:
    if width < 1:
        raise NotKnown("width", f"it comes to {width}, and a forward needs at least one token")
    return width


def _base(at: Terms, ranks: Parallelism, rule: Width) -> Value[int]:
    gather = ranks.gather
    if ranks.mlp_gather.value is not False and rule.dp_local(at):
        gather = ranks.attn_gather
    base = mul_base(
        two_batch_overlap=ranks.two_batch_overlap.need(),
        gather=gather.need(),
        attn_tp=_ranks_that_matter(ranks.attn_tp, gather),
        attn_cp=ranks.attn_cp.need(),
    )
    return derived("mul_base", base, f"gather: {gather.why}")


def _ranks_that_matter(attn_tp: Value[int], gather: Value[bool]) -> int:
    return attn_tp.need() if gather.need() else 1


def _captured(at: Terms, ranks: Parallelism, rule: Width, width: Value[int], base: Value[int]) -> Value[Capture]:
    if not at.settings.cuda_graph.need():
        none = Capture(base=1, sizes=(), lost=(), pool=0)
        return derived("capture_bs", none, f"no graphs: {at.settings.cuda_graph.why}")
    pool = request_pool(at.settings.max_running_requests, ranks.attn_dp)
    found = capture(
        at.settings.cuda_graph_bs.need(),
        pool=pool.need(),
        width=width.need() if rule.aligned else 1,
        base=base.need(),
        two_batch_overlap=ranks.two_batch_overlap.need(),
    )
    return derived("capture_bs", found, f"{at.settings.cuda_graph_bs.why}, {pool.why}")


def _budgets(settings: Settings, found: Capture | None) -> tuple[int, ...]:
    """The nearest budgets that lose none of the sizes that fit the request pool."""
    budget = settings.budget.value
    if found is None or budget is None:
        return ()
    fitting, overlap = {*found.sizes, *found.lost}, bool(settings.two_batch_overlap.value)
    return aligned_budgets(budget, fitting, base=found.base, two_batch_overlap=overlap)
