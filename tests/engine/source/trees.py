"""Small engines to read: a release's layout in a few lines, with what a test changes."""

import base64
import hashlib
import shutil
from pathlib import Path

SPEC_INFO = """
from enum import Enum, auto
class SpeculativeAlgorithm(Enum):
    DFLASH = auto()
    EAGLE = auto()
    NGRAM = auto()
    NONE = auto()

    @classmethod
    def register(cls, name): ...
    def is_eagle(self): return self == SpeculativeAlgorithm.EAGLE
    def get_num_tokens_per_req_for_target_verify(self, num_draft_tokens, is_draft_worker):
        return num_draft_tokens
"""
RUNNER = """
class DecodeCudaGraphRunner(BaseCudaGraphRunner):
    def __init__(self, model_runner):
        self.captured_req_width = model_runner.decode_num_tokens_per_req()
    def can_run_graph(self, forward_batch):
        if forward_batch.spec_info.num_tokens_per_req != self.captured_req_width:
            return False
"""
DRAFT_EXTEND = """
class EAGLEDraftExtendCudaGraphRunner:
    def __init__(self):
        self.captured_req_width = resolve_num_tokens_per_req(phase="draft_extend")
"""
SPEC_UTILS = """
def resolve_num_tokens_per_req(*, phase):
    if phase == "draft_decode":
        return spec.speculative_eagle_topk
    if phase == "draft_extend":
        return spec.speculative_num_draft_tokens
"""
SERVER_ARGS = """
from sglang.srt.choices import LOAD_FORMATS
class ServerArgs:
    model_path: A[str, Arg(help="Path.", aliases=["--model"])]
    tp_size: A[int, Arg(help="Ranks.", cli_name="--tensor-parallel-size", aliases=["--tp-size"])] = 1
    load_format: A[str, Arg(help="Format.", choices=LOAD_FORMATS)] = "auto"
    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--config", type=str, help="File.")
"""
CHOICES = 'LOAD_FORMATS = ["auto", "dummy"]\n'

NEWEST = {
    "_version.py": "__version__ = version = '0.5.23'\n",
    "srt/server_args.py": SERVER_ARGS,
    "srt/choices.py": CHOICES,
    "srt/speculative/spec_info.py": SPEC_INFO,
    "srt/speculative/spec_utils.py": SPEC_UTILS,
    "srt/speculative/eagle_draft_extend_cuda_graph_runner.py": DRAFT_EXTEND,
    "srt/model_executor/runner/decode_cuda_graph_runner.py": RUNNER,
}

OLDEST = {
    "version.py": '__version__ = "0.5.10"\n',
    "srt/server_args.py": """
import argparse
class ServerArgs:
    tp_size: int = 1
    @staticmethod
    def add_cli_args(parser: argparse.ArgumentParser):
        parser.add_argument("--tensor-parallel-size", "--tp-size", type=int, default=ServerArgs.tp_size)
""",
    "srt/speculative/spec_info.py": """
class SpeculativeAlgorithm(Enum):
    EAGLE = auto()
    DDTREE = auto()
    NONE = auto()
    def is_ddtree(self): return self == SpeculativeAlgorithm.DDTREE
""",
    "srt/speculative/eagle_draft_extend_cuda_graph_runner.py": """
class EAGLEDraftExtendCudaGraphRunner:
    def __init__(self):
        self.num_tokens_per_bs = self.speculative_num_steps + 1
""",
    "srt/model_executor/cuda_graph_runner.py": """
class CudaGraphRunner:
    def __init__(self, model_runner):
        self.num_tokens_per_bs = 1
        if model_runner.spec_algorithm.is_eagle() or model_runner.spec_algorithm.is_ddtree():
            if model_runner.is_draft_worker:
                raise RuntimeError
            else:
                self.num_tokens_per_bs = self.model_runner.server_args.speculative_num_draft_tokens
    def can_run(self, forward_batch):
        if self.require_mlp_tp_gather:
            bs = (
                max(forward_batch.global_num_tokens_cpu) // self.num_tokens_per_bs
                if self.model_runner.spec_algorithm.is_eagle()
                else max(forward_batch.global_num_tokens_cpu)
            )
""",
}


def plant(folder: Path, files: dict[str, str]) -> Path:
    """Write `files` as the whole package `sglang` below `folder` and return the package."""
    package = folder / "sglang"
    shutil.rmtree(package, ignore_errors=True)
    for path, text in files.items():
        file = package / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return package


def install(folder: Path, version: str = "0.5.23", direct_url: str | None = None) -> Path:
    """The newest engine with the metadata folder that pip leaves beside it."""
    package = plant(folder, NEWEST)
    metadata = folder / f"sglang-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: sglang\nRequires-Dist: torch==2.14.1\n\nText\n")
    (metadata / "RECORD").write_text("".join(f"sglang/{path},{_hash(package / path)},1\n" for path in NEWEST))
    if direct_url is not None:
        (metadata / "direct_url.json").write_text(direct_url)
    return package


def _hash(path: Path) -> str:
    digest = hashlib.sha256(path.read_bytes()).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
