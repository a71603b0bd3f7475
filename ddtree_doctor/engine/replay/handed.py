"""What a worker hands to verify, read back as trees: from the mask, which verify attends by, not from the links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ddtree_doctor.tree.model import Tree

__all__ = ["trees_of"]


def trees_of(made: Any, lengths: Sequence[int], backend: Any) -> list[Tree]:
    """The tree of each request in the verify input `made`; `lengths` are the committed tokens before it.

    Where there is no mask, as for a chain, the links are read; a linear algorithm, which has neither, verifies a chain.
    Raises ValueError where mask or links are no tree.
    """
    width = int(made.draft_token_num)
    tokens = made.draft_token.view(len(lengths), width).tolist()
    blocks = _blocks(made.custom_mask, lengths, width, backend)
    if blocks is not None:
        parents = [_by_mask(block.tolist()) for block in blocks]
    elif hasattr(made, "retrieve_next_token"):
        links = zip(made.retrieve_next_token.tolist(), made.retrieve_next_sibling.tolist(), strict=True)
        parents = [_by_links(*link) for link in links]
    else:
        parents = [list(range(-1, width - 1)) for _ in lengths]
    return [_tree(*pair) for pair in zip(parents, tokens, strict=True)]


def _tree(parents: Sequence[int], tokens: Sequence[int]) -> Tree:
    """The tree of these parents; rows after the first one without a parent are pads."""
    nodes = next((row for row, parent in enumerate(parents) if row and parent < 0), len(parents))
    return Tree(parents=tuple(parents[:nodes]), tokens=tuple(tokens[:nodes]), pads=len(parents) - nodes)


def _blocks(mask: torch.Tensor | None, lengths: Sequence[int], width: int, backend: Any) -> list[torch.Tensor] | None:
    """Each request's [width, width] part of the mask, None where its layout is not known.

    SGLang packs a row either over prefix and tree or over the tree alone; a buffer of the attention backend's is
    longer than what it holds and says which of the two it is.
    """
    if mask is None:
        return None
    whole = sum(width * (length + width) for length in lengths)
    buffer = getattr(backend, "verify_mask", None)
    layout = str(getattr(getattr(buffer, "mode", None), "name", ""))
    if layout == "QLEN_ONLY" or (not layout and mask.numel() == len(lengths) * width * width):
        return list(mask[: len(lengths) * width * width].view(-1, width, width).bool())
    if layout not in ("", "FULL_MASK") or mask.numel() < whole:
        return None
    parts = torch.split(mask[:whole].bool(), [width * (length + width) for length in lengths])
    return [part.view(width, -1)[:, -width:] for part in parts]


def _by_mask(block: Sequence[Sequence[bool]]) -> list[int]:
    """A row's parent is the one of its ancestors that has most ancestors itself."""
    ancestors = [[row for row in range(at) if seen[row]] for at, seen in enumerate(block)]
    return [max(before, key=lambda row: (len(ancestors[row]), row), default=-1) for before in ancestors]


def _by_links(following: Sequence[int], sibling: Sequence[int]) -> list[int]:
    parents = [-1] * len(following)
    for row, child in enumerate(following):
        while child >= 0 and parents[child] < 0:
            parents[child] = row
            child = sibling[child]
    return parents
