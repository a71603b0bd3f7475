"""Hypothesis strategies that several test modules share."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import strategies as st

from ddtree_doctor.facts.model import Engine, Facts, Gpu, Host, ModelConfig
from ddtree_doctor.launch.model import Flag, Launch
from ddtree_doctor.tree.model import Tree

__all__ = ["ALGORITHMS", "JSON", "facts", "launch", "logits", "parents", "siblings_differ", "targets"]

ALGORITHMS = (
    "NONE",
    "EAGLE",
    "EAGLE3",
    "NEXTN",
    "STANDALONE",
    "NGRAM",
    "DFLASH",
    "DSPARK",
    "UNO",
    "FROZEN_KV_MTP",
    "DDTREE",
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def parents(draw: st.DrawFn, max_nodes: int = 24) -> tuple[int, ...]:
    """A parent array: -1 for the root, then `parent[i] < i`."""
    nodes = draw(st.integers(1, max_nodes))
    return (-1, *(draw(st.integers(0, row - 1)) for row in range(1, nodes)))


@st.composite
def siblings_differ(draw: st.DrawFn, max_nodes: int = 24, vocabulary: int = 6) -> Tree:
    """A tree whose siblings hold different tokens of a small vocabulary, so that walks often go on."""
    found, tokens = [-1], [0]
    taken: list[set[int]] = [set()]
    for row in range(1, draw(st.integers(1, max_nodes))):
        parent = draw(st.sampled_from([p for p in range(row) if len(taken[p]) < vocabulary]))
        token = draw(st.sampled_from(sorted(set(range(vocabulary)) - taken[parent])))
        taken[parent].add(token)
        taken.append(set())
        found.append(parent)
        tokens.append(token)
    return Tree(parents=tuple(found), tokens=tuple(tokens))


def targets(tree: Tree, vocabulary: int = 6) -> st.SearchStrategy[list[int]]:
    """The target's token after each row of `tree`."""
    return st.lists(st.integers(0, vocabulary - 1), min_size=tree.width, max_size=tree.width)


@st.composite
def logits(draw: st.DrawFn, max_depth: int = 4, max_vocabulary: int = 6) -> list[list[float]]:
    """A matrix [depth, vocabulary]; few distinct values make ties likely."""
    vocabulary = draw(st.integers(1, max_vocabulary))
    value = draw(st.sampled_from([st.floats(-8, 8), st.sampled_from([0.0, 1.0, 2.0])]))
    row = st.lists(value, min_size=vocabulary, max_size=vocabulary)
    return draw(st.lists(row, min_size=1, max_size=max_depth))


def launch(*words: str, **environment: str) -> Launch:
    """A launch of flags as the engine's fields spell them: `launch("--tp-size", "8")`."""
    starts = [i for i, word in enumerate(words) if word.startswith("--")]
    spans = itertools.pairwise([*starts, len(words)])
    flags = tuple(
        Flag(option=words[a], name=words[a][2:].replace("-", "_"), values=tuple(words[a + 1 : b])) for a, b in spans
    )
    return Launch(command=" ".join(words), flags=flags, environment=environment)


def facts(
    *words: str,
    target: dict[str, Any] | None = None,
    draft: dict[str, Any] | None = None,
    gpu: Gpu | None = None,
    engine: Engine | None = None,
    **environment: str,
) -> Facts:
    """Facts of one launch; a config that is not given is missing, with the reason `not there`."""
    return Facts(
        host=Host(python="3.11", platform="linux", gpus=(gpu,) * 8 if gpu else ()),
        engine=engine or Engine(),
        launch=launch(*words, **environment),
        target=_config("target", target),
        draft=_config("draft", draft) if "--speculative-draft-model-path" in words else None,
    )


def _config(name: str, values: dict[str, Any] | None) -> ModelConfig:
    return ModelConfig(name=name, values=values or {}, unknown="not there" if values is None else "")
