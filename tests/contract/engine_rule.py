"""SGLang's own functions behind the capture list and the gather, asked over JSON lines in one process.

Run as a script it is the process: one question a line in, one answer a line out. `Engine` is the other end. What is set
up around the functions is their input only: the published configuration, the parallel sizes and the request pool.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

REFUSED = "refused"


class Engine:
    """The process. Use it as a context manager."""

    def __enter__(self) -> Engine:
        env = os.environ | {"SGLANG_MORI_EP_V2": "0"}
        self._noise = tempfile.TemporaryFile(mode="w+")
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._noise,
            text=True,
            env=env,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=60)
        self._noise.close()

    def ask(self, **question: Any) -> Any:
        """The engine's answer; the text REFUSED where its own assertion fails."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            self._noise.seek(0)
            raise RuntimeError("the engine process ended: " + self._noise.read()[-4000:])
        return json.loads(line)


def capture(bs: list[int], pool: int, width: int, attn_tp: int, attn_cp: int, overlap: bool, gather: bool) -> Any:
    """`get_batch_sizes_to_capture` under these sizes."""
    from sglang.srt.model_executor.runner.base_cuda_graph_runner import get_batch_sizes_to_capture
    from sglang.srt.runtime_context import get_exec, get_parallel, get_server_args

    runner = SimpleNamespace(req_to_token_pool=SimpleNamespace(size=pool), server_args=get_server_args())
    ranks = attn_tp * attn_cp
    with ExitStack() as stack:
        graphs = SimpleNamespace(decode=SimpleNamespace(bs=list(bs)))
        stack.enter_context(get_exec().graph.override(cuda_graph_config=graphs))
        stack.enter_context(get_exec().overlap.override(enable_two_batch_overlap=overlap))
        stack.enter_context(
            get_parallel().override(
                tp_size=ranks, moe_tp_size=ranks, attn_tp_size=attn_tp, attn_cp_size=attn_cp, attn_dp_size=1
            )
        )
        try:
            return get_batch_sizes_to_capture(runner, width, gathered_buffer_required=gather)[0]
        except AssertionError:
            return REFUSED


def gathers(tp: int, dp: int, backend: str, dense_tp: int | None, dp_lm_head: bool, opt_out: bool) -> Any:
    """`require_mlp_tp_gather` and `require_attn_tp_gather` under these settings."""
    from sglang.srt.layers.moe.utils import MoeA2ABackend
    from sglang.srt.runtime_context import get_flags, get_parallel
    from sglang.srt.utils.common import require_attn_tp_gather, require_mlp_tp_gather

    sizes = {"tp_size": tp, "moe_tp_size": tp, "attn_tp_size": tp // dp, "attn_dp_size": dp, "attn_cp_size": 1}
    switches = {"enable_dp_lm_head": dp_lm_head, "moe_dense_tp_size": dense_tp, "disable_attn_tp_gather": opt_out}
    with ExitStack() as stack:
        stack.enter_context(get_parallel().override(**sizes, **switches, attn_dp_enabled=dp > 1, num_dp_ranks=dp))
        stack.enter_context(get_flags().moe.override(a2a_backend=MoeA2ABackend(backend)))
        return [require_mlp_tp_gather(), require_attn_tp_gather()]


def default_list(max_bs: int, algorithm: str | None, padding: bool) -> Any:
    """`generate_decode_cuda_graph_batch_sizes` under these settings."""
    from sglang.srt.arg_groups.cuda_graph_hook import generate_decode_cuda_graph_batch_sizes
    from sglang.srt.server_args import ServerArgs

    arguments = ServerArgs(model_path="dummy", speculative_algorithm=algorithm, disable_cuda_graph_padding=not padding)
    return generate_decode_cuda_graph_batch_sizes(arguments, max_bs)


def verify_width(algorithm: str, num_draft_tokens: int, is_draft_worker: bool) -> Any:
    """Tokens per request that an algorithm's own hook answers for a TARGET_VERIFY graph."""
    from sglang.srt.speculative.spec_info import SpeculativeAlgorithm

    hook = SpeculativeAlgorithm.from_string(algorithm).get_num_tokens_per_req_for_target_verify
    return hook(num_draft_tokens, is_draft_worker)


def phase_width(phase: str, steps: int, topk: int, num_draft_tokens: int) -> Any:
    """Tokens per request that SGLang resolves for an EAGLE draft phase."""
    from sglang.srt.runtime_context import get_spec
    from sglang.srt.speculative.spec_utils import resolve_num_tokens_per_req

    numbers = {"speculative_eagle_topk": topk, "speculative_num_draft_tokens": num_draft_tokens}
    with get_spec().override(speculative_num_steps=steps, **numbers):
        return resolve_num_tokens_per_req(phase=phase)


PLATFORMS = {
    "sm_89": {},
    "sm_90": {"is_sm90": True, "is_hopper_with_cuda_12_3": True},
    "sm_100": {"is_sm100": True, "is_blackwell": True},
    "sm_103": {"is_sm100": True, "is_blackwell": True},
    "sm_120": {"is_sm120": True, "is_blackwell": True},
}
"""GPU architecture → what SGLang's platform probes answer on it."""


def resolve(words: list[str], arch: str, memory: int) -> Any:
    """SGLang's own resolved arguments of a command line, as on a CUDA GPU; REFUSED where it refuses to start."""
    import argparse

    import sglang.srt.arg_groups.memory_hook as memory_hook
    from sglang.srt.runtime_context import override_platform
    from sglang.srt.server_args import ServerArgs

    memory_hook.get_device_memory_capacity = lambda device=None: memory
    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)
    with override_platform(is_cuda=True, has_flashinfer=True, device_sm=int(arch[3:]), **PLATFORMS[arch]):
        try:
            arguments = ServerArgs.from_cli_args(parser.parse_args([*words, *ON_GPU]))
            arguments.resolve_once()
        except (ValueError, AssertionError, TypeError, NotImplementedError) as error:
            print(words, arch, repr(error)[:200], file=sys.stderr)
            return REFUSED
    found = arguments.resolved_dict()
    graphs = found["cuda_graph_config"]["decode"]
    return {**{name: found[name] for name in FIELDS}, "max_bs": graphs["max_bs"], "bs": graphs["bs"]}


ON_GPU = ("--device", "cuda", "--load-format", "dummy", "--skip-tokenizer-init")
FIELDS = (
    "speculative_algorithm",
    "speculative_num_draft_tokens",
    "speculative_num_steps",
    "speculative_eagle_topk",
    "enable_multi_layer_eagle",
    "attention_backend",
    "page_size",
    "max_running_requests",
    "tp_size",
    "attn_dp_size",
)


def serve() -> None:
    """Answer questions until the input ends. What the engine prints goes to standard error."""
    answers, sys.stdout = sys.stdout, sys.stderr
    from sglang.srt.runtime_context import publish
    from sglang.srt.server_args import ServerArgs

    publish(ServerArgs(model_path="dummy"), role="scheduler")
    functions = {one.__name__: one for one in (capture, gathers, default_list, verify_width, phase_width, resolve)}
    for line in sys.stdin:
        question = json.loads(line)
        answers.write(json.dumps(functions[question.pop("function")](**question)) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
