"""How an engine sizes its graphs: the layouts by name, and the traits that vary inside a layout.

A layout is told by what is in the source, never by a version number: the attribute that the decode graph runner keeps
its width in, and the hook through which an algorithm may answer another width for target verify.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["LAYOUTS", "TRAITS", "Layout", "Trait", "layout_named", "recognise"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """One way to size graphs.

    `attribute` is what the decode graph runner assigns its tokens per request to (`self.<attribute> = …`). `hooks` are
    the methods of the algorithm, any of which answers that number for target verify; empty where the runner itself
    takes the number of draft tokens for every algorithm. `releases` says where it was seen, for people.
    """

    name: str
    attribute: str
    hooks: tuple[str, ...]
    releases: str

    @property
    def verify_by_algorithm(self) -> bool:
        """Whether an algorithm can have a verify width other than the number of draft tokens."""
        return bool(self.hooks)


LAYOUTS = (
    Layout(
        name="captured-req-width",
        attribute="captured_req_width",
        hooks=("get_num_tokens_per_req_for_target_verify",),
        releases="0.5.16 and later",
    ),
    Layout(
        name="width-hook",
        attribute="num_tokens_per_bs",
        hooks=("get_num_tokens_per_bs_for_target_verify",),
        releases="0.5.13.post1 to 0.5.15",
    ),
    Layout(
        name="num-tokens-per-bs",
        attribute="num_tokens_per_bs",
        hooks=(),
        releases="0.5.10 to 0.5.12.post1",
    ),
)
"""Most demanding first: the first whose attribute and one of whose hooks are in the source is the engine's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """One key of `Engine.traits`: what it says and the values it may have. An absent key means: not recognised."""

    name: str
    values: tuple[object, ...]
    about: str


TRAITS = (
    Trait(
        name="draft_extend",
        values=("steps+1", "draft_tokens"),
        about="width that EAGLEDraftExtendCudaGraphRunner assigns to the layout's attribute",
    ),
    Trait(
        name="multi_layer_draft_extend",
        values=("steps+1+step", "draft_tokens", "draft_tokens+front_tokens"),
        about="width that MultiLayerEagleDraftExtendCudaGraphRunner assigns to the layout's attribute",
    ),
    Trait(
        name="gather_a2a",
        values=(),
        about="tuple of the all-to-all backends that require_mlp_tp_gather asks for by name (`is_flashinfer()` is "
        "'flashinfer'), in order; ('none',) in the oldest form",
    ),
    Trait(
        name="attn_tp_gather_opt_out",
        values=(True, False),
        about="whether require_attn_tp_gather obeys disable_attn_tp_gather",
    ),
    Trait(
        name="small_gpu_max_bs",
        values=((24, 80), (48, 160)),
        about="(max_bs at TP < 4, at TP ≥ 4) that the engine assigns by default between 20 and 35 GiB of GPU memory",
    ),
    Trait(
        name="max_bs_capped_by_running",
        values=(True, False),
        about="whether a default decode max_bs above a given max_running_requests is cut down to it",
    ),
    Trait(
        name="admission_by_name",
        values=(True, False),
        about="whether graph admission under MLP gather lists algorithms by name (is_eagle(), …) to turn tokens "
        "into batch size",
    ),
    Trait(
        name="width_gate",
        values=(True, False),
        about="whether can_run_graph refuses a forward whose num_tokens_per_req differs from the captured width",
    ),
    Trait(
        name="graph_runner",
        values=(),
        about="file and class that captures decode and target verify: `srt/…/decode_cuda_graph_runner.py:"
        "DecodeCudaGraphRunner`",
    ),
    Trait(
        name="verify_overrides",
        values=(),
        about="mapping of an algorithm to the width expression that the graph runner itself gives it (forks do so); "
        "empty in every release",
    ),
    Trait(
        name="width_by_hook",
        values=(),
        about="the enum's algorithms that the width hook tells apart; any other member gets the draft tokens "
        "(a fork's DDTREE in neither this nor verify_overrides is the founding fault)",
    ),
    Trait(
        name="paged_tree_backends",
        values=(("flashinfer", "fa3"), ("flashinfer", "fa3", "triton")),
        about="attention backends that the engine lets verify an EAGLE tree with a page size above 1",
    ),
    Trait(
        name="dflash_skips_mask",
        values=(),
        about="classes of the attention backends to which DFLASH's verify hands no custom mask",
    ),
    Trait(
        name="kda_fused_verify",
        values=(8,),
        about="most draft tokens that the fused KDA verify kernel takes; beyond it a slower one runs",
    ),
    Trait(
        name="fork_reasons",
        values=(),
        about="why the engine is no plain release, in words; empty where it is one",
    ),
)


def layout_named(name: str) -> Layout | None:
    """The layout of that name, None if there is none."""
    return next((layout for layout in LAYOUTS if layout.name == name), None)


def recognise(attributes: Iterable[str], methods: Iterable[str]) -> Layout | None:
    """The layout of an engine, from names found in its source.

    `attributes` are what the decode graph runner assigns on `self`, `methods` those of the algorithm enum.
    """
    assigned, defined = set(attributes), set(methods)
    for layout in LAYOUTS:
        if layout.attribute in assigned and (not layout.hooks or defined & set(layout.hooks)):
            return layout
    return None
