"""The probe process of a whole engine: `sglang.Engine` on tiny models, its prompts answered greedily.

SGLang starts its scheduler and its detokenizer by `spawn`, which imports this module anew in each of them, by the name
`__mp_main__`, before anything of SGLang: there a host without a GPU is made ready as it is here.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from dacite import Config, from_dict

from ddtree_doctor.engine.job import Job
from ddtree_doctor.engine.whole.job import EngineJob
from ddtree_doctor.probe.child import Failed, serve
from ddtree_doctor.replay.engine_run import EngineRun, Text, largest_difference

__all__ = ["answered", "said"]

BEST = 2
"""Log-probabilities that are asked for at each token: the chosen one's and the next."""


def answered(what: EngineJob) -> dict[str, Any]:
    """What the engine said, as plain data of an EngineRun. Raises Failed where it cannot be started."""
    began = time.monotonic()
    job = from_dict(Job, what.start, Config(cast=[tuple]))
    if job.device == "cuda":
        from ddtree_doctor.engine.gpu_host import demand_room

        demand_room(what.need_mib)
    try:
        from ddtree_doctor.engine.start import prepare

        prepare(job)
        with tempfile.TemporaryDirectory(prefix="tiny-") as folder:
            replays = multiprocessing.get_context("spawn").Value("q", 0)
            engine = _engine(job, Path(folder), seed=what.seed, replays=replays)
            try:
                found = replace(said(engine, what), replays=replays.value)
            finally:
                engine.shutdown()
    except ImportError as missing:
        raise Failed(f"not installed: {type(missing).__name__}: {missing}") from missing
    return asdict(found) | {"seconds": round(time.monotonic() - began, 2)}


def _engine(job: Job, folder: Path, **options: Any) -> Any:
    """The engine, up; `options` are `run_scheduler`'s."""
    from ddtree_doctor.engine import seams
    from ddtree_doctor.engine.resolve import server_arguments
    from ddtree_doctor.engine.whole.scheduler import run_scheduler

    class Engine(seams.find("engine")):  # type: ignore[misc]
        """SGLang's engine, whose scheduler starts through the doctor."""

        run_scheduler_process_func = staticmethod(
            partial(run_scheduler, device=job.device, mutant=job.mutant, **options)
        )

    return Engine(server_args=server_arguments(job, folder))


def said(engine: Any, what: EngineJob) -> EngineRun:
    """What `engine` answers to the prompts of `what`, and how far rounding alone goes where that is asked for."""
    asked = {"return_logprob": True, "top_logprobs_num": BEST} if what.scored else {}
    answers = engine.generate(
        input_ids=[list(one) for one in what.prompts], sampling_params=_greedy(what.tokens), **asked
    )
    texts = tuple(_text(one) for one in answers)
    return replace(
        what.blank(),
        texts=texts,
        spread=_spread(engine, what.prompts, texts) if what.scored else None,
        accept_length=_accept_length([one["meta_info"] for one in answers]),
    )


def _greedy(tokens: int) -> dict[str, Any]:
    return {"temperature": 0, "max_new_tokens": tokens, "ignore_eos": True}


def _text(answer: Mapping[str, Any]) -> Text:
    best = answer["meta_info"].get("output_top_logprobs") or ()
    return Text(tokens=tuple(answer["output_ids"]), best=tuple(map(_pair, best)))


def _pair(entry: Sequence[Sequence[Any]]) -> tuple[float, float]:
    first, second = (float(one[0]) for one in entry[:BEST])
    return first, second


def _spread(engine: Any, prompts: Sequence[Sequence[int]], texts: Sequence[Text]) -> float:
    """The largest difference between a token's best log-probabilities when decoded and when prefilled."""
    whole = [[*prompt, *text.tokens] for prompt, text in zip(prompts, texts, strict=True)]
    engine.flush_cache()
    answers = engine.generate(
        input_ids=whole, sampling_params=_greedy(1), return_logprob=True, logprob_start_len=0, top_logprobs_num=BEST
    )
    again = [
        tuple(map(_pair, answer["meta_info"]["input_top_logprobs"][len(prompt) :]))
        for prompt, answer in zip(prompts, answers, strict=True)
    ]
    return max(largest_difference(text.best, best) for text, best in zip(texts, again, strict=True))


def _accept_length(answers: Sequence[Mapping[str, Any]]) -> float | None:
    """Tokens per verify pass over all prompts, None where the engine counts none."""
    passes = sum(one.get("spec_verify_ct") or 0 for one in answers)
    return round(sum(one["completion_tokens"] for one in answers) / passes, 3) if passes else None


def _work(job: dict[str, Any]) -> dict[str, Any]:
    return answered(from_dict(EngineJob, job, Config(cast=[tuple])))


if __name__ == "__mp_main__" and os.environ.get("SGLANG_PLATFORM") == "ddtree_doctor":
    from ddtree_doctor.engine.host import before_import

    before_import()

if __name__ == "__main__":
    serve(_work)
    os._exit(0)
