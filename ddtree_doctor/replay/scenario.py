"""A scenario: a sequence of batches for one role, each request with a committed prefix and a tree to verify. Pure data.

The same scenario runs on the CPU and on a GPU, eager and through a graph; it goes to JSON and back unchanged, so that a
failing one can be written into a file that reproduces it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ddtree_doctor.tree.model import Tree

__all__ = ["Batch", "Request", "Scenario"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request of a batch: `slot` tells requests apart over the batches, `prefix` is its committed length in tokens.

    A prefix that is longer than in the batch before means that tokens were accepted in between.
    """

    slot: int
    prefix: int
    tree: Tree

    def __post_init__(self) -> None:
        if self.prefix < 1:
            raise ValueError(f"request {self.slot}: prefix {self.prefix}; the root needs at least 1 committed token")


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The requests of one forward, in order. All trees have one width."""

    requests: tuple[Request, ...]

    def __post_init__(self) -> None:
        widths = {request.tree.width for request in self.requests}
        if len(widths) != 1:
            raise ValueError(f"a batch needs requests of one width; these have {sorted(widths) or 'none'}")
        if len({request.slot for request in self.requests}) != len(self.requests):
            raise ValueError("two requests of a batch share a slot")

    @property
    def size(self) -> int:
        """Number of requests."""
        return len(self.requests)

    @property
    def width(self) -> int:
        """Tokens per request."""
        return self.requests[0].tree.width


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Batches in order, over pages of `page_size` KV slots."""

    name: str
    batches: tuple[Batch, ...]
    page_size: int = 1

    def __post_init__(self) -> None:
        if not self.batches:
            raise ValueError(f"scenario {self.name}: has no batch")
        shrunk = [r.slot for a, b in zip(self.batches, self.batches[1:], strict=False) for r in _shorter(a, b)]
        if shrunk:
            raise ValueError(f"scenario {self.name}: slot {shrunk[0]} loses committed tokens between batches")

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "name": self.name,
            "page_size": self.page_size,
            "batches": [[_request_json(request) for request in batch.requests] for batch in self.batches],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Scenario:
        """The scenario of `to_json`. Raises KeyError, TypeError or ValueError where it is none."""
        batches = tuple(Batch(requests=tuple(map(_request, batch))) for batch in value["batches"])
        return cls(name=value["name"], page_size=value["page_size"], batches=batches)


def _shorter(before: Batch, after: Batch) -> Sequence[Request]:
    lengths = {request.slot: request.prefix for request in before.requests}
    return [request for request in after.requests if request.prefix < lengths.get(request.slot, 0)]


def _request_json(request: Request) -> dict[str, Any]:
    tree = request.tree
    return {
        "slot": request.slot,
        "prefix": request.prefix,
        "parents": list(tree.parents),
        "tokens": list(tree.tokens),
        "pads": tree.pads,
        "pad_token": tree.pad_token,
    }


def _request(value: Mapping[str, Any]) -> Request:
    tree = Tree(
        parents=tuple(value["parents"]),
        tokens=tuple(value["tokens"]),
        pads=value["pads"],
        pad_token=value["pad_token"],
    )
    return Request(slot=value["slot"], prefix=value["prefix"], tree=tree)
