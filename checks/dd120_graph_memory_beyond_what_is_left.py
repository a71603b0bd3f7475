"""DD120: graph buffers estimated against the memory that weights and KV cache leave."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.contract.checkpoint import multi_head_latent, whole
from ddtree_doctor.contract.model import RoleContract
from ddtree_doctor.knowledge import NotKnown
from ddtree_doctor.rule import Case, Check, Finding

MIB, GIB = 1 << 20, 1 << 30
KV_INDEX_BYTES = {"triton": 8, "flashinfer": 4}
"""Bytes of a KV index in backends that keep one for every token of every sequence; others keep a page table."""

MASK_BACKENDS = ("triton", "flashinfer", "aiter")
LOGIT_BYTES, STATE_BYTES, MASK_BYTES, PAGE_BYTES = 4, 2, 1, 4
AUX_LAYERS = {"EAGLE3": 3, "EAGLE": 1}
CHUNKS = ((20, 2048), (60, 4096), (160, 8192))
"""GPU memory in GiB below which the engine prefills in chunks of so many tokens; 16384 above."""


class GraphMemoryBeyondWhatIsLeft(Check):
    """The buffers of the captured graphs need more memory than weights and KV cache leave."""

    code = "DD120"
    severity = "warning"
    confidence = "likely"
    why = (
        "Graphs keep their inputs, masks, KV indices and logits for the largest captured batch at full width, from "
        "start-up to the end. A tree is wide, so these grow with budget + 1 times the context length; the engine sets "
        "memory aside for graphs by batch size alone. What does not fit ends in out of memory while capturing, or "
        "later on a long request."
    )
    fix = (
        "--cuda-graph-max-bs-decode: smaller",
        "--mem-fraction-static: lower",
        "--context-length: what is really used",
    )
    references = ("https://github.com/sgl-project/sglang/issues/6875",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """Bytes of each role's buffers against (1 − mem-fraction-static) × memory, or the engine's own reserve.

        Target: batch × width × vocabulary logits, batch × width × hidden size × tapped layers, a mask of batch × width
        × (context + width). Every role: KV indices of batch × width × context (triton, flashinfer), else a page table.
        """
        self.speculation(case)
        if not case.settings.cuda_graph.need():
            raise self.skip("CUDA graphs are off")
        if not case.facts.host.gpus:
            raise self.skip("no GPU known")
        left = self._left(case)
        parts = {role.subject: _parts(case, role) for role in case.contract.roles}
        total = sum(size for role in parts.values() for _, size in role)
        if total > left:
            subject, largest = max(parts.items(), key=lambda item: sum(size for _, size in item[1]))
            yield self.found(
                subject,
                f"graph buffers need about {_gib(total)}, {_gib(left)} are left; most for {subject}: "
                + "; ".join(f"{text} = {_gib(size)}" for text, size in largest),
                at=case.at("mem_fraction_static", "cuda_graph_max_bs_decode", "cuda_graph_max_bs", "context_length"),
                total_bytes=total,
                left_bytes=left,
                roles={name: [{"formula": text, "bytes": size} for text, size in role] for name, role in parts.items()},
            )

    def _left(self, case: Case) -> int:
        """Bytes for everything but weights and KV cache on the smallest GPU."""
        memory = min((gpu.memory_mib or 0 for gpu in case.facts.host.gpus), default=0) * MIB
        if not memory:
            raise NotKnown("GPU memory", "name a product (--gpu B300x8) or run where the GPU is")
        fraction = case.given.fraction("mem_fraction_static").optional()
        if fraction is not None:
            return int(memory * (1 - fraction))
        if not multi_head_latent(case.facts.target):
            raise self.skip("no --mem-fraction-static: the engine sizes the KV cache after it has captured the graphs")
        return _reserve(case, memory)


def _parts(case: Case, role: RoleContract) -> list[tuple[str, int]]:
    """(formula with its numbers, bytes) for each large buffer of a role."""
    settings, width = case.settings, role.width.need()
    batch, context = max(role.capture_bs.need(), default=0), settings.context_length.need()
    tokens, backend = f"{batch} × {width}", settings.attention_backend.need()
    parts = [_kv_indices(backend, batch, width, context, settings.page_size.need())]
    if role.worker == "target":
        vocab = whole(case.facts.target, "vocab_size")
        parts.append((f"logits {tokens} × {vocab} × {LOGIT_BYTES}", batch * width * vocab * LOGIT_BYTES))
    if role.role == "target_verify":
        hidden, layers = whole(case.facts.target, "hidden_size"), _aux_layers(case, role.algorithm)
        size = batch * width * hidden * layers * STATE_BYTES
        parts.append((f"hidden states {tokens} × {hidden} × {layers} × {STATE_BYTES}", size))
        if backend in MASK_BACKENDS:
            size = batch * width * (context + width) * MASK_BYTES
            parts.append((f"mask {tokens} × ({context} + {width})", size))
    return parts


def _kv_indices(backend: str, batch: int, width: int, context: int, page: int) -> tuple[str, int]:
    if backend in KV_INDEX_BYTES:
        size = KV_INDEX_BYTES[backend]
        return f"KV indices {batch} × {width} × {context} × {size}", batch * width * context * size
    pages = -(-context // max(page, 1))
    return f"page table {batch} × {pages} × {PAGE_BYTES}", batch * pages * PAGE_BYTES


def _aux_layers(case: Case, algorithm: str) -> int:
    """Target layers whose hidden states the draft is handed."""
    ids = case.facts.draft.get("dflash_config.target_layer_ids") if case.facts.draft else None
    return len(ids) if isinstance(ids, list) else AUX_LAYERS.get(algorithm, 0)


def _reserve(case: Case, memory: int) -> int:
    """What the engine leaves where the launch gives no fraction: activations by prefill chunk, graphs by batch size."""
    default = next((tokens for limit, tokens in CHUNKS if memory < limit * GIB), 16384)
    chunk = case.given.integer("chunked_prefill_size", default=default, least=-1).need()
    ranks = case.settings.tp.need() * case.given.integer("pp_size", default=1).need()
    graphs = 2 * max((max(role.capture_bs.need(), default=0) for role in case.contract.roles), default=0)
    mib = 512 + max(chunk, 2048) * 1.5 + ranks / 8 * 1024 + graphs + 1536
    return int(max(mib, 10 * 1024 if memory > 60 * GIB else 0) * MIB)


def _gib(size: int) -> str:
    return f"{size / GIB:.1f} GiB"
