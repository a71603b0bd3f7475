"""What one replay process on a GPU is to do, as plain data. Imports no engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from ddtree_doctor.contract.model import Settings
from ddtree_doctor.engine.job import CONTEXT, Job, job
from ddtree_doctor.engine.replay.job import ReplayJob, replayed_options, sized
from ddtree_doctor.errors import UsageError
from ddtree_doctor.launch.model import Launch

__all__ = ["GPU_SIZES", "VARIANTS", "Cell", "GpuJob", "at_budget", "dtype_on", "gpu_job", "gpu_start"]

GPU_SIZES = (1, 2, 4, 8, 16, 32)
"""Captured batch sizes: each power of two, so that 3, 7, 15 and 31 requests are padded."""

SANITIZED_SIZES = (1, 2)
VARIANTS = ("ascending", "own pool", "after other graphs", "guarded intermediates")
"""How the graphs are captured anew, or disturbed, once the suite has run (`graphs.VARIANTS`)."""

RUNNING = 48
POOL_TOKENS = 1 << 16
NEED_MIB = 6 << 10
"""Free GPU memory that a probe asks for: the tiny model, its pools, the CUDA context and the kernels."""

HALF = "bfloat16"
HALF_ONLY = frozenset({"flashinfer", "fa3", "fa4", "trtllm_mha"})
"""Attention backends without kernels for float32."""

BY_DRAFT_TOKENS = frozenset({"NGRAM", "EAGLE", "EAGLE3", "STANDALONE"})
"""Algorithms whose verified tree has `--speculative-num-draft-tokens` tokens, the root among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One combination to replay. None: what the launch, or else the engine, says. `budget` counts no root."""

    backend: str | None = None
    page_size: int | None = None
    budget: int | None = None

    def __str__(self) -> str:
        named = (
            self.backend or "the launch's own backend",
            f"page size {self.page_size}" if self.page_size else "",
            f"budget {self.budget}" if self.budget else "",
        )
        return ", ".join(filter(None, named))


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuJob(ReplayJob):
    """A start on a GPU. `variants` are of VARIANTS; `guard` is `bands`, `apart` (under a sanitizer) or `none`.

    `timed` asks for what the looks at guard bands cost, as a note.
    """

    host: str = "gpu"
    sizes: tuple[int, ...] = GPU_SIZES
    rounds: bool = False
    variants: tuple[str, ...] = VARIANTS
    guard: str = "bands"
    timed: bool = False
    need_mib: int = NEED_MIB


def gpu_start(launch: Launch, settings: Settings, cell: Cell, *, plugin: str = "", mutant: str = "") -> Job:
    """The start whose verify passes stand for the launch's on this GPU, in one cell.

    Raises UsageError where the launch's algorithm has no tree that a budget could size.
    """
    whole = job(launch, settings, plugin=plugin, mutant=mutant)
    page = cell.page_size or settings.page_size.value or 1
    backend = cell.backend or settings.attention_backend.value
    start = replace(
        whole,
        options=replayed_options(launch),
        fixed={
            "attention_backend": backend,
            "dtype": dtype_on(launch, backend),
            "max_running_requests": RUNNING,
            "max_total_tokens": POOL_TOKENS,
        },
        tp=1,
        attn_tp=1,
        page_size=cell.page_size or whole.page_size,
        expert_gather=False,
        device="cuda",
        substituted=tuple(_substituted(whole)),
    )
    start = start if cell.budget is None else at_budget(start, cell.budget)
    return replace(start, context=_context(start, settings, page))


def gpu_job(start: Job, *, sizes: tuple[int, ...] = GPU_SIZES, **options: object) -> GpuJob:
    """The job of a start; `options` are fields of GpuJob."""
    return GpuJob(start=asdict(sized(start, sizes)), sizes=sizes, **options)  # type: ignore[arg-type]


def dtype_on(launch: Launch, backend: str | None) -> str:
    """The launch's own dtype where it names one that the backend has kernels for, else bfloat16."""
    flag = launch.flag("dtype")
    given = {"half": "float16", "float": "float32"}.get(str(flag.value), str(flag.value)) if flag else ""
    allowed = {"bfloat16", "float16"} | (set() if backend in HALF_ONLY else {"float32"})
    return given if given in allowed else HALF


def at_budget(start: Job, budget: int) -> Job:
    """The same start with a tree of `budget` nodes and the root. Raises UsageError where the algorithm has no tree."""
    if start.algorithm == "DDTREE":
        return replace(start, budget=budget, values={**start.values, "speculative_ddtree_budget": budget})
    if start.algorithm in BY_DRAFT_TOKENS:
        return replace(start, fixed={**start.fixed, "speculative_num_draft_tokens": budget + 1})
    raise UsageError(f"--budget {budget}: {start.algorithm} verifies no tree; leave --budget out")


def _context(start: Job, settings: Settings, page: int) -> int:
    """Room for prefixes of every kind before the widest tree, in whole pages."""
    fixed = int(start.fixed.get("speculative_num_draft_tokens", 0))
    widest = max(settings.num_draft_tokens.value or 1, fixed, (start.budget or 0) + 1)
    return -(-(CONTEXT + 4 * widest) // page) * page


def _substituted(start: Job) -> Iterator[str]:
    """What differs from the deployment, in words."""
    yield "model: a tiny one with random weights (3 layers, hidden size 256, heads of 128)"
    if start.tp > 1:
        yield f"ranks: one GPU stands for {start.tp}"
    yield "TORCHDYNAMO_DISABLE: the helpers that SGLang decorates with torch.compile run as they are"
