"""What one run of a whole engine is to do, as plain data. Imports no engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ddtree_doctor.contract.model import Settings
from ddtree_doctor.engine.job import Job
from ddtree_doctor.engine.replay.gpu_job import HALF, NEED_MIB, Cell, gpu_start
from ddtree_doctor.engine.replay.job import capture_fields, replay_job, without_speculation
from ddtree_doctor.launch.model import Launch
from ddtree_doctor.replay.engine_run import EngineRun

__all__ = ["EngineJob", "engine_jobs", "prompts"]

LENGTHS = (5, 17, 9)
"""Tokens of the prompts. Three requests run in the graph for four, so that a row is padded."""

VOCABULARY = range(10, 256)
"""Token ids of prompts: what every tiny model has, above its special tokens and the drafts' mask tokens."""

SIZES = (1, 2, 4)
TOKENS = {"cpu": 12, "cuda": 48}
FINEST = {"cpu": "float32", "cuda": "float16"}
"""The finest dtype that the engine's kernels take: the finer, the fewer ties between the two best logits."""

BFLOAT16_DRAFTS = frozenset({"DFLASH", "DDTREE", "DSPARK"})
"""Algorithms whose draft SGLang feeds bfloat16, whatever the model is in, where it runs eager."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineJob:
    """One start of the engine and the prompts that it answers greedily, `tokens` new ones each.

    `speculation` and `graphs` say what is on, `number` tells equal runs apart. `scored` asks for the two best
    log-probabilities of every token, and for the same text scored again in one prefill.
    """

    start: dict[str, Any]
    speculation: bool
    graphs: bool
    number: int
    prompts: tuple[tuple[int, ...], ...]
    tokens: int
    scored: bool
    seed: int = 0
    need_mib: int = NEED_MIB

    def blank(self) -> EngineRun:
        """The run before anything was said."""
        fixed = self.start["fixed"]
        return EngineRun(
            host="gpu" if self.start["device"] == "cuda" else "cpu",
            algorithm=self.start["algorithm"] if self.speculation else "NONE",
            speculation=self.speculation,
            graphs=self.graphs,
            number=self.number,
            backend=str(
                fixed.get("attention_backend") or ("triton" if self.start["device"] == "cpu" else "the engine's own")
            ),
            dtype=str(fixed["dtype"]),
        )


def engine_jobs(
    launch: Launch,
    settings: Settings,
    *,
    host: str,
    plugin: str = "",
    mutant: str = "",
    tokens: int | None = None,
) -> tuple[EngineJob, ...]:
    """The runs that tell whether speculation, or graphs, change what `launch` says.

    Without speculation: eager twice, then with graphs; with it, where the launch has any: eager, then with graphs.
    Where the launch has graphs off, so have all. `mutant` is the path of a file that the runs with speculation are
    started under; of a launch without any, the run with graphs. `tokens` is how many each prompt is answered with.
    """
    whole = (
        gpu_start(launch, settings, Cell(), plugin=plugin)
        if host == "gpu"
        else replay_job(launch, settings, plugin=plugin)
    )
    speculates = whole.algorithm != "NONE"
    bare = without_speculation(whole, launch)

    def one(speculation: bool, graphs: bool, number: int = 1) -> EngineJob:
        start = whole if speculation else bare
        faulty = speculation or (graphs and not speculates)
        fixed = {**start.fixed, **_settings(start, graphs=graphs)}
        return EngineJob(
            start=asdict(replace(start, fixed=fixed, mutant=mutant if faulty else "")),
            speculation=speculation,
            graphs=graphs,
            number=number,
            prompts=prompts(),
            tokens=tokens or TOKENS[start.device],
            scored=not speculation,
        )

    modes = (False,) if settings.cuda_graph.value is False else (False, True)
    off = (one(False, False), one(False, False, 2), *(one(False, graphs) for graphs in modes[1:]))
    return (*off, *(one(True, graphs) for graphs in modes)) if speculates else off


def prompts(lengths: Sequence[int] = LENGTHS) -> tuple[tuple[int, ...], ...]:
    """Prompts of these lengths: the same tokens on every machine, and no two alike."""
    return tuple(
        tuple(VOCABULARY[(31 * at + 7 * place) % len(VOCABULARY)] for place in range(length))
        for at, length in enumerate(lengths)
    )


def _settings(start: Job, *, graphs: bool) -> dict[str, Any]:
    return {
        "dtype": _dtype(start),
        **capture_fields(SIZES),
        "disable_cuda_graph": not graphs,
        "disable_decode_cuda_graph": not graphs,
        "log_level": "warning",
    }


def _dtype(start: Job) -> str:
    return HALF if start.algorithm in BFLOAT16_DRAFTS else FINEST[start.device]
