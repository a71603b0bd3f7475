"""Width per algorithm and role: how many tokens each request brings into one forward.

From the algorithms' definitions. Draft extend has three historical forms, the multi-layer one three of its own; which
holds is a trait of the engine (`contract.layout`). Where it is not recognised and the forms agree (a chain's draft
tokens are its steps + 1), the width is known all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ddtree_doctor.contract.checkpoint import names
from ddtree_doctor.contract.given import Given
from ddtree_doctor.contract.model import Settings
from ddtree_doctor.facts.model import Facts, ModelConfig
from ddtree_doctor.knowledge import NotKnown

__all__ = ["DRAFT_EXTEND", "MULTI_LAYER_DRAFT_EXTEND", "WIDTHS", "Terms", "Width", "widths"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a width is computed from."""

    settings: Settings
    facts: Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Width:
    """One role's width. `worker` runs it; `formula` says it in words; `of` computes it, raising NotKnown.

    `aligned` says whether the capture list is filtered by this width: SGLang's EAGLE draft runners filter theirs as if
    a request were one token. `by_budget` says that it follows from DDTREE's budget. `dp_local` says that data-parallel
    ranks draft without each other's token counts, `exists` whether the launch has the role at all.
    """

    worker: str
    formula: str
    of: Callable[[Terms], int]
    aligned: bool = True
    by_budget: bool = False
    dp_local: Callable[[Terms], bool] = lambda _: False
    exists: Callable[[Terms], bool] = lambda _: True


def _tokens(at: Terms) -> int:
    return at.settings.num_draft_tokens.need()


def _steps(at: Terms) -> int:
    return at.settings.num_steps.need()


def _one(at: Terms) -> int:
    if Given(at.facts).flag("dllm_algorithm") is not None:
        raise NotKnown("width", "a diffusion language model decodes blocks, whose size its algorithm's config holds")
    return 1


DRAFT_EXTEND: Mapping[str, Callable[[Terms], int]] = {
    "steps+1": lambda at: _steps(at) + 1,
    "draft_tokens": _tokens,
}
"""Trait `draft_extend` → width. Up to 0.5.12.post1 the accepted path, since then the whole tree."""

MULTI_LAYER_DRAFT_EXTEND: Mapping[str, Callable[[Terms], int]] = {
    "steps+1+step": lambda at: 2 * _steps(at),
    "draft_tokens": _tokens,
    "draft_tokens+front_tokens": lambda at: _tokens(at) + _front_tokens(at),
}
"""Trait `multi_layer_draft_extend` → width. In the oldest form each step is one wider; the last of them counts here."""


def _by_trait(trait: str, forms: Mapping[str, Callable[[Terms], int]]) -> Callable[[Terms], int]:
    def width(at: Terms) -> int:
        form = forms.get(str(at.facts.engine.traits.get(trait)))
        found = {of(at) for of in ([form] if form else forms.values())}
        if len(found) > 1:
            raise NotKnown("width", f"releases differ ({', '.join(forms)}) and this engine's form is not recognised")
        return found.pop()

    return width


def _front_tokens(at: Terms) -> int:
    """Rows in front that keep a hybrid model's draft state whole; none for plain attention."""
    switch = at.facts.launch.environment.get("SGLANG_ENABLE_MTP_BOUNDARY_KV_FIX", "1").lower()
    if switch in ("0", "false", "no") or at.settings.topk.need() != 1 or _steps(at) <= 1:
        return 0
    if not _hybrid(at.facts.target):
        return 0
    raise NotKnown("width", "a hybrid model adds front tokens by the shape of its state, which is not known here")


def _hybrid(target: ModelConfig) -> bool:
    if target.unknown:
        raise NotKnown(f"config of {target.name}", target.unknown)
    if any(kind not in STATELESS_LAYERS for kind in names(target, "layer_types")):
        return True
    return any(target.get(key) is not None for key in STATE_KEYS)


STATELESS_LAYERS = ("full_attention", "sliding_attention", "chunked_attention")
STATE_KEYS = (
    "linear_conv_kernel_dim",
    "hybrid_override_pattern",
    "mamba_d_conv",
    "linear_attn_config",
    "sconv_kernel_size",
)
"""Keys of a config whose model keeps a state beside its KV cache."""


def _anchored(at: Terms) -> int:
    """DSPARK drafts its block; a checkpoint that does not sample from the anchor brings the anchor's row along."""
    draft = at.facts.target if at.facts.draft is None else at.facts.draft
    if draft.unknown:
        raise NotKnown(f"config of {draft.name}", draft.unknown)
    return _tokens(at) if draft.get("sample_from_anchor") is False else _tokens(at) - 1


def _drafts_locally(at: Terms) -> bool:
    draft = at.facts.target if at.facts.draft is None else at.facts.draft
    return not any("DeepseekV4" in name for name in names(draft, "architectures"))


def _uno_draft(at: Terms) -> int:
    return _steps(at) + 1 if at.settings.topk.need() > 1 else _tokens(at)


def _drafts_again(at: Terms) -> bool:
    """One step needs no draft forward: draft extend has already proposed its tokens."""
    return at.settings.num_steps.value != 1


def _drafts_in_step(at: Terms) -> bool:
    """Under attention data parallelism a block is drafted eagerly: the ranks draft for unequal batches."""
    return at.settings.dp_attention.value is not True


VERIFY = Width(worker="target", formula="draft tokens", of=_tokens)
BLOCK = Width(worker="draft", formula="block size", of=lambda at: at.settings.block_size.need(), exists=_drafts_in_step)
BRANCHES = Width(
    worker="draft", formula="topk", of=lambda at: at.settings.topk.need(), aligned=False, exists=_drafts_again
)
EXTEND = Width(
    worker="draft",
    formula="draft tokens (steps + 1 before 0.5.13)",
    of=_by_trait("draft_extend", DRAFT_EXTEND),
    aligned=False,
)
STEPWISE = {"target_verify": VERIFY, "draft": BRANCHES, "draft_extend": EXTEND}

WIDTHS: Mapping[str, Mapping[str, Width]] = {
    "NONE": {"decode": Width(worker="target", formula="1", of=_one)},
    "EAGLE": STEPWISE,
    "EAGLE3": STEPWISE,
    "STANDALONE": STEPWISE,
    "NGRAM": {"target_verify": VERIFY},
    "MULTI_LAYER_EAGLE": {
        "target_verify": VERIFY,
        "draft_extend": Width(
            worker="draft",
            formula="draft tokens + front tokens",
            of=_by_trait("multi_layer_draft_extend", MULTI_LAYER_DRAFT_EXTEND),
            aligned=False,
        ),
    },
    "FROZEN_KV_MTP": {
        "target_verify": VERIFY,
        "draft": Width(worker="draft", formula="topk", of=lambda at: at.settings.topk.need()),
    },
    "DFLASH": {"target_verify": VERIFY, "draft": BLOCK},
    "DDTREE": {
        "target_verify": Width(
            worker="target", formula="budget + 1", of=lambda at: at.settings.budget.need() + 1, by_budget=True
        ),
        "draft": BLOCK,
    },
    "DSPARK": {
        "target_verify": VERIFY,
        "draft": Width(worker="draft", formula="draft tokens - 1", of=_anchored, dp_local=_drafts_locally),
    },
    "UNO": {
        "target_verify": VERIFY,
        "draft": Width(worker="target", formula="steps + 1 with a tree, else draft tokens", of=_uno_draft),
    },
}
"""Algorithm → role → width. MULTI_LAYER_EAGLE is EAGLE with one draft layer a step."""


def _not_known(at: Terms) -> int:
    raise NotKnown("width", f"{at.settings.algorithm.value} is an algorithm that the contract does not know")


OTHERS = {"target_verify": Width(worker="target", formula="not known", of=_not_known)}


def widths(at: Terms) -> Mapping[str, Width]:
    """The roles that the launch's algorithm has, each with its width; empty where the algorithm is not known."""
    if not at.settings.algorithm.known:
        return {}
    name = "MULTI_LAYER_EAGLE" if at.settings.multi_layer.value else at.settings.algorithm.need()
    return {role: width for role, width in WIDTHS.get(name, OTHERS).items() if width.exists(at)}
