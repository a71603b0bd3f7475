"""The out-of-tree platform under which SGLang's workers run on a machine without a GPU.

SGLang's plugin mechanism (`sglang.srt.platforms`) asks a platform for its graph backend, its default attention backend
and what it supports. Every answer here leads to SGLang's own classes, except the graph backend, which records.
Methods that a release does not ask for are ignored by it, so one class serves all releases.
"""

from __future__ import annotations

import os
from typing import Any

import torch
from sglang.srt.platforms.device_mixin import PlatformEnum
from sglang.srt.platforms.interface import SRTPlatform

from ddtree_doctor.engine.backend import RecordingBackend

__all__ = ["RecordingPlatform"]

try:  # a release before capabilities were declared asks `support_cuda_graph` instead
    from sglang.srt.platforms.interface import PlatformCapabilities
except ImportError:
    PlatformCapabilities = None


class _OlderPools(SRTPlatform):  # type: ignore[misc]
    """What a release asks an out-of-tree platform for before it falls back to its own pools by itself."""

    def get_mha_kv_pool_cls(self) -> type:
        """SGLang's own KV pool."""
        from sglang.srt.mem_cache.memory_pool import MHATokenToKVPool

        return MHATokenToKVPool  # type: ignore[no-any-return]

    def get_paged_allocator_cls(self) -> type:
        """SGLang's own allocator of pages."""
        from sglang.srt.mem_cache.allocator.paged import PagedTokenToKVPoolAllocator

        return PagedTokenToKVPoolAllocator  # type: ignore[no-any-return]


class RecordingPlatform(_OlderPools if PlatformCapabilities is None else SRTPlatform):  # type: ignore[misc]
    """SGLang's own workers, runners and Triton kernels on CPU tensors, with graphs recorded instead of captured."""

    _enum = PlatformEnum.OOT
    device_name = "cpu"
    device_type = "cpu"
    if PlatformCapabilities is not None:
        capabilities = PlatformCapabilities(graph_capture=True, supports_triton=True)

    def support_cuda_graph(self) -> bool:
        """Whether decode graphs are captured."""
        return True

    def get_device_total_memory(self, device_id: int = 0) -> int:
        """Bytes of the launch's GPU: the engine derives its default capture list and chunk size from them."""
        return int(os.environ["DDTREE_DOCTOR_GPU_MIB"]) << 20

    def get_current_memory_usage(self, device: torch.device | None = None) -> float:
        """Always 0: memory is not what the shape tier measures."""
        return 0.0

    def get_default_attention_backend(self) -> str:
        """`triton`, the one backend whose kernels run on CPU tensors (in Triton's interpreter)."""
        return "triton"

    def get_default_speculative_draft_attention_backend(self, algorithm: str) -> str:
        """As for the target."""
        return "triton"

    def supports_speculative_draft_attention_backend(self, algorithm: str, backend: str) -> bool:
        """Whether a draft may use `backend`."""
        return backend == "triton"

    def supports_speculative_algorithm(self, algorithm: str) -> bool:
        """Every algorithm of the release: whether it runs is what the probe is to find out."""
        return True

    def get_graph_runner_cls(self) -> type:
        """SGLang's own decode runner."""
        from sglang.srt.model_executor.runner import DecodeCudaGraphRunner

        return DecodeCudaGraphRunner  # type: ignore[no-any-return]

    def get_full_graph_backend_cls(self) -> type[Any]:
        """The backend that records."""
        return RecordingBackend

    def get_speculative_graph_runner_cls(self, algorithm: str, phase: str) -> type | None:
        """SGLang's own draft runners, by phase."""
        from sglang.srt.speculative.eagle_draft_cuda_graph_runner import EAGLEDraftCudaGraphRunner
        from sglang.srt.speculative.eagle_draft_extend_cuda_graph_runner import EAGLEDraftExtendCudaGraphRunner

        return {"draft_decode": EAGLEDraftCudaGraphRunner, "draft_extend": EAGLEDraftExtendCudaGraphRunner}.get(phase)

    def get_dispatch_key_name(self) -> str:
        """`native`: fused operations take their plain torch path."""
        return "native"
