"""DDTREE for an unmodified SGLang, through its own registry of algorithms.

DDTree (https://arxiv.org/abs/2604.12989) drafts as DFlash does, one forward of a block, and verifies a tree of
`budget` nodes and their root: two widths where DFLASH has one. Everything else, worker, runners and buffers, is
SGLang's DFLASH. What the tree asks of it beyond the width: a mask at verify, and an attention backend that sizes the
target's mask by the tree.

Beside it the founding fault: the same algorithm whose verify graph is sized by the block.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ddtree_doctor.engine import seams

__all__ = ["register", "register_width_from_block"]

NAME = "DDTREE"
_BUDGET, _BLOCK = "speculative_ddtree_budget", "speculative_ddtree_block_size"
_BLOCK_SIZE, _RUNNING = 16, 48
_MASK_POLICY = "sglang.srt.speculative.dflash_utils.resolve_dflash_verify_mask_policy"
_DUMMY_INPUT = "sglang.srt.speculative.spec_info.create_dummy_verify_input"


def register(options: Mapping[str, Any]) -> None:
    """Add DDTREE. `options` holds its flags by name; without a budget the tree is as large as the block's chain."""
    _register(options, width_from_block=False)


def register_width_from_block(options: Mapping[str, Any]) -> None:
    """Add DDTREE with the founding fault: verify is believed to be as wide as the block."""
    _register(options, width_from_block=True)


def _register(options: Mapping[str, Any], *, width_from_block: bool) -> None:
    algorithms, base = seams.find("algorithms"), seams.find("custom algorithm")
    budget = None if options.get(_BUDGET) is None else int(options[_BUDGET])
    block = None if options.get(_BLOCK) is None else int(options[_BLOCK])

    class DDTree(base):  # type: ignore[misc,valid-type]
        """The algorithm's answers to SGLang. `is_dflash()` stays false: a DDTREE verify is no DFLASH verify."""

        def is_dflash_family(self) -> bool:
            return True

        def supports_target_verify_for_draft(self) -> bool:
            return True

        def handle_server_args(self, server_args: Any) -> None:
            """One step, one branch, and the block as the draft tokens, as SGLang resolves DFLASH."""
            server_args.speculative_num_steps = server_args.speculative_eagle_topk = 1
            server_args.speculative_num_draft_tokens = block or _block_size(server_args)
            server_args.max_running_requests = server_args.max_running_requests or _RUNNING
            if not hasattr(base, "resolve_max_speculative_num_draft_tokens"):
                # Before 0.5.23 no algorithm is asked how far a verify reaches behind the context.
                server_args.max_speculative_num_draft_tokens = max(
                    server_args.speculative_num_draft_tokens,
                    self.verify_width(server_args.speculative_num_draft_tokens),
                )

        def verify_width(self, num_draft_tokens: int) -> int:
            """The tree with its root."""
            return (num_draft_tokens - 1 if budget is None else budget) + 1

        def resolve_max_speculative_num_draft_tokens(self, server_args: Any) -> int | None:
            drafts = super().resolve_max_speculative_num_draft_tokens(server_args)
            return drafts if drafts is None else max(drafts, self.verify_width(drafts))

        def get_num_tokens_per_req_for_target_verify(self, num_draft_tokens: int, is_draft_worker: bool) -> int:
            return num_draft_tokens if is_draft_worker else self.verify_width(num_draft_tokens)

        get_num_tokens_per_bs_for_target_verify = get_num_tokens_per_req_for_target_verify

    class DDTreeSizedByBlock(DDTree):
        """The founding fault."""

        def resolve_max_speculative_num_draft_tokens(self, server_args: Any) -> int | None:
            return base.resolve_max_speculative_num_draft_tokens(self, server_args)  # type: ignore[no-any-return]

        def get_num_tokens_per_req_for_target_verify(self, num_draft_tokens: int, is_draft_worker: bool) -> int:
            return num_draft_tokens

        get_num_tokens_per_bs_for_target_verify = get_num_tokens_per_req_for_target_verify

    spec_class = DDTreeSizedByBlock if width_from_block else DDTree
    algorithms.register(NAME, supports_overlap=True, spec_class=spec_class)(_worker)
    _hook(_MASK_POLICY, _with_mask)
    _hook(_DUMMY_INPUT, _as_wide_as_the_tree)


def _worker(server_args: Any) -> type:
    """SGLang's DFLASH worker, whose target attends over the tree that DDTREE verifies."""

    class DDTreeWorker(seams.find("DFLASH worker")):  # type: ignore[misc]
        """DFLASH's worker; the target's attention backend is told the width of the tree before it is sized."""

        def init_attention_backends(self) -> None:
            super().init_attention_backends()
            runner = seams.field(seams.field(self, "target of a draft worker"), "model runner")
            backend = seams.field(runner, "attention backend")
            seams.field(backend, "draft tokens of an attention backend")
            backend.num_draft_tokens = seams.field(runner, "width of target verify")()

    return DDTreeWorker


def _block_size(server_args: Any) -> int:
    """The drafter's block in tokens: from the command line, else from the checkpoint, else SGLang's default."""
    given = server_args.speculative_num_draft_tokens or getattr(server_args, "speculative_dflash_block_size", None)
    if given:
        return int(given)
    config = Path(server_args.speculative_draft_model_path or "") / "config.json"
    return int(json.loads(config.read_text()).get("block_size", _BLOCK_SIZE)) if config.is_file() else _BLOCK_SIZE


def _hook(target: str, after: Callable[..., Any]) -> None:
    """Let `after` change what SGLang's function `target` returns, where this launch speculates by DDTREE."""

    def changed(result: Any, *args: Any, **options: Any) -> Any:
        ours = seams.find("speculation options")().speculative_algorithm == NAME
        return after(result, *args, **options) if ours else result

    seams.find("hook registry").register(target, changed, seams.find("hook types").AFTER)


def _with_mask(policy: tuple[str, bool], *_: Any) -> tuple[str, bool]:
    """SGLang leaves DFLASH's mask out where causal attention says the same; for a tree it does not."""
    return policy[0], True


def _as_wide_as_the_tree(dummy: Any, *args: Any, **options: Any) -> Any:
    """SGLang gives DFLASH's dummy verify input the block's width whatever the runner's is."""
    given = seams.bound("dummy verify input", args, options)
    if dummy is None or given["is_draft_worker"]:
        return dummy
    width = given["num_tokens_per_req"]
    return replace(dummy, draft_token_num=width, num_tokens_per_req=width)
