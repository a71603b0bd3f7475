"""Short ways to resolve the speculative settings of a launch."""

from __future__ import annotations

from typing import Any

from ddtree_doctor.contract.given import Given
from ddtree_doctor.contract.speculation import speculation
from ddtree_doctor.contract.speculation_model import FIELDS, Speculation
from tests.strategies import facts

DRAFT = ("--speculative-draft-model-path", "d")
LLAMA = {"architectures": ["LlamaForCausalLM"]}
QWEN = {"architectures": ["Qwen3ForCausalLM"]}


def speculative(algorithm: str, *words: str, **configs: Any) -> Speculation:
    """The speculative settings."""
    return speculation(Given(facts("--speculative-algorithm", algorithm, *words, **configs)))


def resolved(algorithm: str, *words: str, **configs: Any) -> dict[str, Any]:
    """Their values."""
    found = speculative(algorithm, *words, **configs)
    return {name: getattr(found, name).value for name in ("algorithm", *FIELDS)}


def numbers(algorithm: str, *words: str, **configs: Any) -> tuple[Any, ...]:
    """(draft tokens, steps, topk)."""
    found = resolved(algorithm, *words, **configs)
    return found["num_draft_tokens"], found["num_steps"], found["topk"]
