"""Draft tokens of a worker's own drafting exchanged for some that the target accepts; everything else stays its own.

The draft models are random, so that of themselves their tokens are hardly ever what the target says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from ddtree_doctor.engine.replay.handed import trees_of
from ddtree_doctor.engine.replay.serving import Serving
from ddtree_doctor.replay.planting import planted
from ddtree_doctor.replay.shapes import tree_of
from ddtree_doctor.tree.model import Tree

__all__ = ["plant"]

Choice = Callable[[int, Tree], Tree]
"""Of a request's place in the batch and its tree: the tree with tokens planted."""


def plant(serving: Serving, texts: Sequence[Sequence[int]], depths: Callable[[int], int]) -> bool:
    """Plant in every round from now on. Whether this worker's drafting lets one do so.

    `texts` is what the target says behind each prompt, by the request's `rid`; `depths` how many steps are to be
    accepted of the request at a place.
    """
    vocabulary = int(serving.runner.model_config.vocab_size)

    def chosen(at: int, tree: Tree) -> Tree:
        request = serving.requests[at]
        following = texts[int(request.rid)][len(request.output_ids) :]
        return planted(tree, following, depth=depths(at), vocabulary=vocabulary)

    if serving.started.algorithm.is_ngram():
        serving.worker.ngram_corpus = _Corpus(serving, chosen)
        return True
    drafting: Any = getattr(serving.worker, "draft_worker", None)
    algorithm = serving.started.algorithm
    if not hasattr(drafting, "draft") or not (algorithm.is_eagle() or algorithm.is_standalone()):
        return False
    drafting.draft = _planting(drafting.draft, serving, chosen)
    return True


def _planting(draft: Callable[..., Any], serving: Serving, chosen: Choice) -> Callable[..., Any]:
    def drafted(batch: Any, *args: Any, **options: Any) -> Any:
        made = draft(batch, *args, **options)
        trees = trees_of(made, serving.committed, serving.runner.attn_backend)
        rows = [chosen(at, tree).rows for at, tree in enumerate(trees)]
        made.draft_token.copy_(torch.tensor(rows, dtype=made.draft_token.dtype).flatten())
        return made

    return drafted


class _Corpus:
    """Stands for SGLang's table of n-grams, which is C++ and empty in a probe: proposes a DDTree for each request."""

    def __init__(self, serving: Serving, chosen: Choice) -> None:
        self.serving, self.chosen = serving, chosen
        self.width = int(serving.worker.draft_token_num)
        self.vocabulary = int(serving.runner.model_config.vocab_size)

    def batch_get(self, names: Sequence[str], texts: Sequence[Sequence[int]], lengths: Sequence[int]) -> Any:
        """Draft tokens [requests × width] and masks [requests × width × width], flat; row 0 ends the text."""
        trees = []
        for at, text in enumerate(texts):
            tree = tree_of("ddtree", self.width, self.vocabulary, lengths[at])
            trees.append(self.chosen(at, tree.renamed((text[-1], *tree.tokens[1:]))))
        tokens = np.array([tree.rows for tree in trees], dtype=np.int64).flatten()
        return tokens, np.array([tree.mask() for tree in trees], dtype=np.uint8).flatten()

    def __getattr__(self, name: str) -> Callable[..., None]:
        """What else is asked of the table (synchronize, batch_put, erase_match_state, reset) has no effect."""
        return lambda *_: None
