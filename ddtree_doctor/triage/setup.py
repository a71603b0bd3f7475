"""The deployment as its log tells of it: configuration, versions, captured graphs, milestones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ddtree_doctor.triage.literal import parse
from ddtree_doctor.triage.model import Line, Place
from ddtree_doctor.triage.patterns import pattern

__all__ = ["CONFIGURES", "RUNNING", "Setup", "learn"]

VALUES_MAX = 3000
VALUE_CAP = 8192
INT = r"(\d{1,12})"
NUMBERS = r"\[([\d, ]{0,16000})"
ARGS = pattern(r"server_args=(?=[A-Za-z{])")
VLLM_ARGS = pattern(r"non-default args[:=]? ?(?=[{(A-Z])")
VLLM_ENGINE = pattern(r"LLM engine \(v([\w.+-]{1,60})\) with config:")
COMMAND = pattern(r"(?:sglang\.launch_server|sglang serve|vllm serve|vllm\.entrypoints\.[\w.]{1,80}|sglang\.\w{1,40}) ")
OPTION = pattern(r"--([a-z][a-z0-9-]{1,80})(?:[= ]([^\s-][^\s]{0,400}|-\d[^\s]{0,40}))?((?: \d{1,7}(?= |$)){0,400})")
ENVIRONMENT = pattern(
    r"\b((?:SGLANG|SGL|VLLM|NCCL|CUDA|TORCH|PYTORCH|HIP|FLASHINFER|TRITON)_[A-Z0-9_]{2,80})=([^\s'\",;]{1,200})"
)
CAPTURE = pattern(r"Capture ((?:[\w-]{1,20} ){0,3})(?:\w{1,8} )?graph (begin|end)\b", 2)
WIDTH = pattern(rf"num_tokens_per_(?:req|bs)={INT}")
BATCHES = pattern(rf"\bbs[= ]{NUMBERS}")
OLD_CAPTURE = pattern(rf"Capture cuda graph bs {NUMBERS}")
RUNNING = pattern(rf"(?:#running-req: {{0,4}}{INT}|Running: {INT} reqs)")
CACHED = pattern(r"#cached-token: {0,4}[1-9]")
FIELD = pattern(
    rf"\b(max_total_num_tokens|max_running_requests|context_len|draft_vocab_size|vocab_size|draft_hidden_size|hidden_size"
    rf"|max_position_embeddings|max_model_len|max_num_batched_tokens|max_num_seqs|num_speculative_tokens|block_size"
    rf"|num_draft_tokens|num_steps|topk|budget)['\"]?(?:=|: ?){INT}\b"
)
MODEL = pattern(r"Load weight end\. (?:elapsed=[^,]{1,20}, )?type=(\w{1,120})")
VERSION = pattern(
    r"\b(sglang-kernel|sgl[-_]kernel|sglang|vllm|flashinfer(?:[-_]python)?|torch|triton|rocm|nccl)"
    r"(?: api server)?(?:'?: ?'?| version:? |[=]{1,3} ?| v(?=\d))v?(\d{1,3}\.\d[\w.+]{0,40})",
    2,
)
MEMORY = pattern(
    r"(Load weight begin|Load weight end|Memory pool end|graph end|KV cache memory|Model loading took)"
    r"[^\n]{0,160}?(?:avail mem=|: | )(\d{1,6}\.\d{1,6}) Gi?B"
)
MODEL_LEN = pattern(rf"(?:max model len|max_seq_len[= ]) ?{INT}", 2)
DRAFT_BLOCK = pattern(rf"draft config block_size={INT}")
ALIASES = {
    "tp": "tp_size",
    "tensor_parallel_size": "tp_size",
    "dp": "dp_size",
    "data_parallel_size": "dp_size",
    "ep": "ep_size",
    "pp": "pp_size",
    "pipeline_parallel_size": "pp_size",
    "model": "model_path",
    "context_len": "context_len",
    "max_model_len": "context_len",
    "max_seq_len": "context_len",
    "num_spec_tokens": "num_speculative_tokens",
    "method": "speculative_algorithm",
    "draft_block_size": "draft_config_block_size",
    "cuda_graph_max_bs_decode": "cuda_graph_max_bs",
    "cuda_graph_config.decode.max_bs": "cuda_graph_max_bs",
    "cuda_graph_bs_decode": "cuda_graph_bs",
    "cuda_graph_config.decode.bs": "cuda_graph_bs",
    "compilation_config.cudagraph_capture_sizes": "cudagraph_capture_sizes",
    "compilation_config.cudagraph_mode": "cudagraph_mode",
    "cache_config.mamba_cache_mode": "mamba_cache_mode",
}
CONFIGURES = ("server_args=", "LLM engine (v", "non-default args")
"""What a line that prints a whole configuration holds."""
SECTIONS = ("speculative_config", "compilation_config", "cuda_graph_config", "parallel_config", "cache_config")
MILESTONES = (
    ("ready", ("fired up and ready to roll", "Application startup complete")),
    ("served", ("Avg generation throughput",)),
    ("shutdown", ("Shutting down", "gracefully", "Gracefully", "Finished server process", "shutdown complete")),
    (
        "slept",
        ("fall asleep", "Sleep mode freed", "wake up tags", "release_memory_occupation", "resume_memory_occupation"),
    ),
    ("updated", ("update_weights", "Update weights", "weights updated")),
    ("flushed", ("Cache flushed", "flush_cache")),
)


@dataclass(slots=True)
class Setup:
    """What is known of one run of one deployment, by the engine's field names, and where each was read.

    `milestones` holds which of `ready`, `served`, `shutdown`, `slept`, `updated`, `flushed`, `cached` were seen, each
    with its place. `phase` is where the start-up stands at the line last learnt from.
    """

    values: dict[str, object] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    milestones: dict[str, Place] = field(default_factory=dict)
    phase: str = ""

    def number(self, *names: str) -> int | None:
        """The first of `names` that is known as a whole number."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
            if isinstance(value, str) and value.isdigit() and len(value) <= 12:
                return int(value)
        return None

    def numbers(self, *names: str) -> tuple[int, ...]:
        """The first of `names` that is known as a list of whole numbers, () where none is."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, list) and value and all(isinstance(item, int) for item in value):
                return tuple(value)
        return ()

    def text(self, name: str) -> str:
        """The value under `name` as text, "" where it is unset or unknown."""
        value = self.values.get(name)
        return "" if value is None else str(value)

    def put(self, name: str, value: object, place: Place) -> None:
        """Remember a value unless one is known; None says no more than nothing."""
        name = ALIASES.get(name, name)
        if len(self.values) >= VALUES_MAX or value is None or self.values.get(name) not in (None, ""):
            return
        if not isinstance(value, str | list) or len(value) <= VALUE_CAP:
            self.values[name] = value
            self.places[name] = place

    def serve(self, text: str, place: Place) -> None:
        """A batch or access line was written: requests are served, some from the prefix cache."""
        self.milestones.setdefault("served", place)
        self.phase = "runtime"
        if "cached" not in self.milestones and CACHED.search(text):
            self.milestones["cached"] = place

    def put_all(self, values: Mapping[str, object], place: Place) -> None:
        """Remember every value; sections that engines nest come out flat, under their own name too."""
        for name, value in values.items():
            if isinstance(value, dict) and any(name.endswith(section) for section in SECTIONS):
                flat = dict(_flat(value, name))
                self.put_all({key.rpartition(".")[2]: item for key, item in flat.items() if name == SECTIONS[0]}, place)
                self.put_all(flat, place)
            elif not isinstance(value, dict):
                self.put(name, value, place)

    @property
    def engine(self) -> str:
        """`sglang`, `vllm` or ""."""
        return self.text("engine")


def _flat(value: Mapping[str, object], prefix: str) -> list[tuple[str, object]]:
    flat: list[tuple[str, object]] = []
    for key, item in value.items():
        name = f"{prefix}.{key}"
        flat += _flat(item, name) if isinstance(item, dict) else [(name, item)]
    return flat


def learn(setup: Setup, line: Line) -> None:
    """Add to `setup` what `line` tells of the deployment."""
    text, place = line.text, line.place
    for words, teach in LESSONS:
        if any(word in text for word in words):
            teach(setup, text, place)
    if any(word in text for word in CONFIGURES):
        return  # a field's name is no milestone
    for name, words in MILESTONES:
        if name not in setup.milestones and any(word in text for word in words):
            setup.milestones[name] = place
            setup.phase = "runtime" if name in ("ready", "served") else setup.phase


def _server_args(setup: Setup, text: str, place: Place) -> None:
    if found := ARGS.search(text):
        values = parse(text[found.end() :])
        if isinstance(values, dict):
            setup.put("engine", "sglang", place)
            setup.put_all(values, place)
            setup.phase = "startup"


def _vllm_args(setup: Setup, text: str, place: Place) -> None:
    if found := VLLM_ARGS.search(text):
        values = parse(text[found.end() :])
        if isinstance(values, dict):
            setup.put("engine", "vllm", place)
            setup.put_all(values, place)


def _vllm_engine(setup: Setup, text: str, place: Place) -> None:
    if found := VLLM_ENGINE.search(text):
        setup.put("engine", "vllm", place)
        setup.put("version.vllm", found[1], place)
        values = parse(f"({text[found.end() :]})")
        if isinstance(values, dict):
            setup.put_all(values, place)
            setup.phase = "startup"


def _command(setup: Setup, text: str, place: Place) -> None:
    if found := COMMAND.search(text):
        setup.put("engine", "vllm" if "vllm" in found.group() else "sglang", place)
        setup.put("command", text[:4096], place)
        for option in OPTION.finditer(text, found.end()):
            name, value, more = option[1].replace("-", "_"), option[2], option[3]
            words = [value, *more.split()] if value and more else value
            setup.put(name, _typed(words) if value else True, place)


def _typed(words: str | list[str]) -> object:
    if isinstance(words, list):
        return [int(word) for word in words if word.isdigit()]
    return parse(words.strip("'\"")) if words[:1] in "{[('\"-0123456789" else words


def _environment(setup: Setup, text: str, place: Place) -> None:
    if "For debugging consider" in text:
        return
    for found in ENVIRONMENT.finditer(text):
        setup.put(f"env.{found[1]}", found[2], place)


def _capture(setup: Setup, text: str, place: Place) -> None:
    if found := OLD_CAPTURE.search(text):
        setup.put("capture_bs", _ints(found[1]), place)
    if not (found := CAPTURE.search(text)):
        return
    setup.phase = "capture" if found[2].lower() == "begin" else "startup"
    draft = "draft" in found[1]
    if "prefill" in found[1]:
        return
    if width := WIDTH.search(text):
        setup.put("draft_captured_width" if draft else "captured_width", int(width[1]), place)
    if sizes := BATCHES.search(text):
        setup.put("draft_capture_bs" if draft else "capture_bs", _ints(sizes[1]), place)


def _ints(text: str) -> list[int] | None:
    return [int(word) for word in text.split(",") if word.strip().isdigit()] or None


def _fields(setup: Setup, text: str, place: Place) -> None:
    if "server_args=" in text:
        return
    for found in FIELD.finditer(text):
        setup.put(found[1], int(found[2]), place)


def _versions(setup: Setup, text: str, place: Place) -> None:
    for found in VERSION.finditer(text):
        name = found[1].lower().replace("_", "-")
        setup.put(f"version.{'flashinfer' if name.startswith('flashinfer') else name}", found[2].rstrip("."), place)
        if name in ("sglang", "vllm"):
            setup.put("engine", name, place)


def _memory(setup: Setup, text: str, place: Place) -> None:
    if found := MEMORY.search(text):
        setup.put(f"memory_gb.{found[1].lower().replace(' ', '_')}", float(found[2]), place)


def _one(pattern_: object, name: str) -> Callable[[Setup, str, Place], None]:
    def teach(setup: Setup, text: str, place: Place) -> None:
        if found := pattern_.search(text):  # type: ignore[attr-defined]
            setup.put(name, int(found[1]) if found[1].isdigit() else found[1], place)

    return teach


def _vllm_capture(setup: Setup, text: str, _: Place) -> None:
    setup.phase = "capture" if "finished" not in text else "startup"


LESSONS: tuple[tuple[tuple[str, ...], Callable[[Setup, str, Place], None]], ...] = (
    (("server_args=",), _server_args),
    (("non-default args",), _vllm_args),
    (("LLM engine (v",), _vllm_engine),
    (("launch_server ", "vllm serve ", "sglang serve ", "api_server "), _command),
    (("SGL", "VLLM_", "NCCL_", "CUDA_", "TORCH_", "HIP_", "FLASHINFER_", "TRITON_"), _environment),
    (("Capture ",), _capture),
    (("max_", "_size", "_len", "num_", "topk", "budget"), _fields),
    (("ersion", "==", "glang", "vllm", "orch", "ashinfer"), _versions),
    (("Load weight end",), _one(MODEL, "architecture")),
    ((" GB", " GiB"), _memory),
    (("max model len", "max_seq_len"), _one(MODEL_LEN, "context_len")),
    (("draft config block_size",), _one(DRAFT_BLOCK, "draft_config_block_size")),
    (("Capturing CUDA graph", "Graph capturing finished"), _vllm_capture),
)
