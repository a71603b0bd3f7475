"""Which attention backend and page size a launch runs with.

Read from SGLang 0.5.23: `get_default_attn_backend` (`arg_groups/model_override_base.py`), its overrides by architecture
and its page constraints (`arg_groups/overrides.py`). The backend meant is the one that runs target verify, or decode
where the launch does not speculate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ddtree_doctor.contract.checkpoint import architecture, multi_head_latent
from ddtree_doctor.contract.given import Given
from ddtree_doctor.contract.values import derived, forced, settle
from ddtree_doctor.knowledge import NotKnown, Value

__all__ = ["BY_ARCHITECTURE", "OWN_CHOICE", "PAGES", "attention_backend", "page_size"]

DEEPSEEK = (
    "DeepseekV3ForCausalLM",
    "DeepseekV32ForCausalLM",
    "KimiK25ForConditionalGeneration",
    "MistralLarge3ForCausalLM",
    "PixtralForConditionalGeneration",
    "GlmMoeDsaForCausalLM",
)
SM100 = ("sm_100", "sm_103")
BLACKWELL = (*SM100, "sm_120", "sm_121")


def _on(archs: tuple[str, ...], backend: str, elsewhere: str = "") -> Mapping[str, str]:
    return dict.fromkeys(archs, backend) | ({"": elsewhere} if elsewhere else {})


HOPPER_OR_BLACKWELL = {"sm_90": "fa3", **_on(SM100, "trtllm_mha", "triton")}
STEP = {"sm_90": "fa3", **_on(BLACKWELL, "fa4")}

BY_ARCHITECTURE: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(DEEPSEEK, _on(SM100, "trtllm_mla")),
    "BeamForCausalLM": _on(("sm_90", *BLACKWELL), "trtllm_mha"),
    "DeepseekV4ForCausalLM": {"": "dsv4"},
    "FalconH1ForCausalLM": _on(SM100, "triton"),
    "Gemma4ForCausalLM": _on(SM100, "trtllm_mha", "triton"),
    "Gemma4ForConditionalGeneration": _on(SM100, "trtllm_mha", "triton"),
    "Gemma4UnifiedForConditionalGeneration": _on(SM100, "trtllm_mha", "triton"),
    "GptOssForCausalLM": HOPPER_OR_BLACKWELL,
    "IQuestQ1ForCausalLM": {"": "fa3"},
    "InklingForConditionalGeneration": _on(("sm_90", *SM100), "fa4", "triton"),
    "JetNemotronForCausalLM": _on(SM100, "triton"),
    "Lfm2ForCausalLM": _on(SM100, "flashinfer"),
    "Lfm2MoeForCausalLM": _on(SM100, "flashinfer"),
    "Llama4ForCausalLM": HOPPER_OR_BLACKWELL,
    "Llama4ForConditionalGeneration": HOPPER_OR_BLACKWELL,
    "MiMoV2FlashForCausalLM": _on(SM100, "fa4"),
    "MiMoV2ForCausalLM": _on(SM100, "fa4"),
    "Step3p5ForCausalLM": STEP,
    "Step3p7ForConditionalGeneration": STEP,
    "WhisperForConditionalGeneration": {"": "flashinfer"},
}
"""Target architecture → GPU architecture → backend that it takes by itself; "" for every other GPU."""

HYBRID_QWEN = (
    "InternS2PreviewForConditionalGeneration",
    "Qwen3NextForCausalLM",
    "Qwen3_5ForConditionalGeneration",
    "Qwen3_5MoeForConditionalGeneration",
)
"""On sm_100 these take trtllm_mha with speculation where it is the default, else triton."""

OWN_CHOICE = (
    "EmbeddingGemma2Model",
    "Exaone4ForCausalLM",
    "ExaoneMoEForCausalLM",
    "ExaoneMoeForCausalLM",
    "GraniteMoeHybridForCausalLM",
    "KimiK3ForConditionalGeneration",
    "MiniCPMForCausalLM",
    "MiniMaxM3SparseForCausalLM",
    "MiniMaxM3SparseForConditionalGeneration",
    "NemotronHForCausalLM",
    "Qwen4ExpForConditionalGeneration",
)
"""Target architectures that choose by more than the GPU: their default is not judged."""

OLDER_LAYOUTS = ("num-tokens-per-bs", "width-hook")
"""Layouts of releases whose defaults were not read."""

PAGES: Mapping[str, tuple[tuple[int, ...], int]] = {
    "dsa": ((64,), 64),
    "dsv4": ((256,), 256),
    "flashmla": ((64,), 64),
    "hpc_ops": ((64,), 64),
    "trtllm_mla": ((32, 64), 64),
    "cutedsl_mla": ((32, 64), 64),
    "trtllm_mha": ((16, 32, 64, 128), 64),
}
"""Backend → (page sizes it can run with, the one it is changed to otherwise)."""


def attention_backend(given: Given, algorithm: Value[str]) -> Value[str]:
    """The backend of target verify, or of decode where the launch does not speculate."""
    return settle("attention_backend", lambda: _backend(given, algorithm))


def _backend(given: Given, algorithm: Value[str]) -> Value[str]:
    speculates = algorithm.need() != "NONE"
    mode = given.text("speculative_attention_mode", default="prefill").need()
    side = "prefill" if speculates and mode == "prefill" else "decode"
    for field in (f"{side}_attention_backend", "attention_backend"):
        value = given.text(field)
        if not value.known or value.value is not None:
            return replace(value, name="attention_backend")
    return _default(given, algorithm.need())


def _default(given: Given, algorithm: str) -> Value[str]:
    target, arch = given.facts.target, _arch(given)
    own = architecture(target)
    if own in OWN_CHOICE:
        raise NotKnown("attention_backend", f"{own} chooses it by itself; give --attention-backend")
    if given.facts.engine.layout in OLDER_LAYOUTS:
        raise NotKnown(
            "attention_backend", "the defaults of this older release are not known; give --attention-backend"
        )
    if own in DEEPSEEK and target.get("index_topk") is not None:
        return derived("attention_backend", "dsa", f"{own} with sparse attention")
    table = BY_ARCHITECTURE.get(own, {})
    if found := table.get(arch, table.get("")):
        return derived("attention_backend", found, f"what {own} takes on {arch}")
    backend = _latent(arch) if multi_head_latent(target) else _plain(given, algorithm, arch)
    if own in HYBRID_QWEN and arch in SM100:
        backend = _hybrid_qwen(own, algorithm, backend)
    return derived("attention_backend", backend, f"the engine's default for {own} on {arch}")


def _hybrid_qwen(own: str, algorithm: str, default: str) -> str:
    if algorithm == "NONE" and default == "trtllm_mha":
        raise NotKnown("attention_backend", f"{own} chooses it by how it caches its state; give --attention-backend")
    return "trtllm_mha" if default == "trtllm_mha" else "triton"


def _arch(given: Given) -> str:
    found = {gpu.arch for gpu in given.facts.host.gpus}
    if len(found) != 1 or None in found:
        raise NotKnown("attention_backend", "the default depends on the GPU's architecture, which is not known")
    return str(found.pop())


def _latent(arch: str) -> str:
    return {"sm_90": "fa3", **_on(SM100, "flashinfer")}.get(arch, "triton")


def _plain(given: Given, algorithm: str, arch: str) -> str:
    """The default of multi-head attention. It is chosen before speculation is resolved: the flags as given count."""
    topk, pages = given.integer("speculative_eagle_topk"), given.integer("page_size")
    chain = topk.value is None or (topk.need() == 1 and pages.value in (None, 1))
    if arch == "sm_90" and chain:
        return "fa3"
    if arch in SM100 and chain and (algorithm in ("NONE", "DFLASH") or topk.value is not None):
        return "trtllm_mha"
    return "flashinfer"


def page_size(given: Given, backend: Value[str]) -> Value[int]:
    """Tokens a page of the KV cache, after the backend has had its say."""
    return settle("page_size", lambda: _page(given, backend))


def _page(given: Given, backend: Value[str]) -> Value[int]:
    told = replace(given.integer("page_size"), name="page_size")
    if not told.known or (told.value is not None and not backend.known):
        return told
    for name in _named(given, backend):
        allowed, instead = _pages(given, name)
        if allowed and told.value not in allowed:
            return forced("page_size", instead, f"{name} runs with pages of {', '.join(map(str, allowed))} only")
    if told.value is not None:
        return told
    return Value(name="page_size", value=1, origin="default", why="the engine's default")


def _pages(given: Given, backend: str) -> tuple[tuple[int, ...], int]:
    if backend != "fa4":
        return PAGES.get(backend, ((), 0))
    chain = (given.integer("speculative_eagle_topk").value or 1) <= 1
    paged = chain and _arch(given) in SM100 and not multi_head_latent(given.facts.target)
    return ((128,), 128) if paged else ((), 0)


def _named(given: Given, backend: Value[str]) -> list[str]:
    """Every backend the launch runs with: pages are shared."""
    fields = ("decode_attention_backend", "prefill_attention_backend", "speculative_draft_attention_backend")
    words = [given.text(field) for field in fields]
    return [backend.need(), *(word.need() for word in words if not word.known or word.value is not None)]
