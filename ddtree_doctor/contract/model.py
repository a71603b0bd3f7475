"""What a contract is: the settings a launch comes down to, and one demand for each role of its algorithm."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ddtree_doctor.knowledge import Value

__all__ = ["Contract", "RoleContract", "Settings"]


SINGLE_LAYER: Value[bool] = Value(name="multi_layer", value=False, origin="default")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a launch comes down to once defaults, model configs and the algorithm's own rules are applied.

    Every field is a Value: known with its origin, or unknown with the reason. `budget` counts DDTree nodes without the
    root, whatever the flag counts. `dp` counts data-parallel groups: of attention inside the TP group where
    `dp_attention` is true, of whole replicas otherwise. `gather` says that activations are gathered over the
    attention-TP ranks. `attention_backend` is the one of target verify, of decode where the launch does not speculate.
    """

    algorithm: Value[str]
    num_draft_tokens: Value[int]
    num_steps: Value[int]
    topk: Value[int]
    block_size: Value[int]
    budget: Value[int]
    multi_layer: Value[bool] = SINGLE_LAYER
    tp: Value[int]
    dp: Value[int]
    attn_tp: Value[int]
    attn_cp: Value[int]
    dp_attention: Value[bool]
    gather: Value[bool]
    two_batch_overlap: Value[bool]
    attention_backend: Value[str]
    page_size: Value[int]
    context_length: Value[int]
    max_running_requests: Value[int]
    cuda_graph: Value[bool]
    cuda_graph_max_bs: Value[int]
    cuda_graph_bs: Value[tuple[int, ...]]

    def unknown(self) -> dict[str, str]:
        """Field name → reason, for every field that is not known."""
        values: list[tuple[str, Value[object]]] = [(f.name, getattr(self, f.name)) for f in fields(self)]
        return {name: value.why for name, value in values if not value.known}


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleContract:
    """What one role of the algorithm demands.

    `worker` is `target` or `draft`. `width` is tokens per request in one forward. `mul_base` is what batch size × width
    must be a multiple of, `capture_bs` the batch sizes that get a graph (none where graphs are off), `lost_bs` the
    configured ones within the request pool that do not: such a batch is padded to the next size that has a graph.
    `aligned_budgets` are the nearest budgets (below, above) that lose none, empty for algorithms without a budget.
    """

    algorithm: str
    role: str
    worker: str
    width: Value[int]
    mul_base: Value[int]
    capture_bs: Value[tuple[int, ...]]
    lost_bs: Value[tuple[int, ...]]
    aligned_budgets: tuple[int, ...] = ()

    @property
    def subject(self) -> str:
        """`DDTREE/target_verify`."""
        return f"{self.algorithm}/{self.role}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """All demands of one launch. `roles` is empty where the algorithm is not known."""

    settings: Settings
    roles: tuple[RoleContract, ...] = ()

    def role(self, name: str) -> RoleContract | None:
        """The demand for role `name`, None if the algorithm has no such role."""
        return next((role for role in self.roles if role.role == name), None)
