"""How often each attention backend reads the tree mask that speculative decoding hands it.

A read is a use of the name or attribute `custom_mask` for its value: not an assignment to it, not a test against None.
Counted so, 0 means that a tree is verified causally there: FlashInfer's MLA backend unpacks the mask and never passes
it on (its own comment says that topk above 1 is yet to come), and trtllm_mha does not name it at all.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ddtree_doctor.engine.source.evaluate import literal
from ddtree_doctor.engine.source.tree import Definition, Module, SourceTree, definitions

__all__ = ["read_masks"]

MASK = "custom_mask"
BACKENDS = "srt/layers/attention"
REGISTRY = f"{BACKENDS}/attention_registry.py"
_SUFFIX = "_backend.py"
_DEEPEST = 4


def read_masks(tree: SourceTree) -> dict[str, int]:
    """Backend → reads of the mask: by the name of each `*_backend.py`, and by each name of the engine's registry."""
    by_file = {
        name.removesuffix(_SUFFIX): _reads_of(tree, f"{BACKENDS}/{name}")
        for name in tree.names(BACKENDS)
        if name.endswith(_SUFFIX)
    }
    counts = {name: count for name, count in by_file.items() if count is not None}
    for name, stem in _registered(tree.module(REGISTRY)):
        if stem in counts:
            counts.setdefault(name, counts[stem])
    return dict(sorted(counts.items()))


def _reads_of(tree: SourceTree, path: str) -> int | None:
    text = tree.text(path)
    if text is None or MASK not in text:
        return None if text is None else 0
    module = tree.module(path)
    return None if module is None else _reads(module.tree)


def _reads(tree: ast.Module) -> int:
    found = 0
    waiting: list[Iterable[ast.AST]] = [tree.body]
    while waiting:
        for node in waiting.pop():
            if not (isinstance(node, ast.Compare) and _tests_none(node)):
                found += _is_read(node)
                waiting.append(tuple(ast.iter_child_nodes(node)))
    return found


def _is_read(node: ast.AST) -> bool:
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name == MASK and isinstance(getattr(node, "ctx", None), ast.Load)


def _tests_none(node: ast.Compare) -> bool:
    return isinstance(node.comparators[0], ast.Constant) and node.comparators[0].value is None


def _registered(module: Module | None) -> Iterator[tuple[str, str]]:
    """(name of a backend, stem of the file that its factory takes it from) of `@register_attention_backend(name)`."""
    if module is None:
        return
    functions = {node.name: node for node in definitions(module.tree.body)}
    for function in functions.values():
        for decorator in function.decorator_list:
            if isinstance(decorator, ast.Call) and decorator.args and isinstance(literal(decorator.args[0]), str):
                name = str(literal(decorator.args[0]))
                stem = _stem(function, name, functions, _DEEPEST)
                if stem:
                    yield name, stem


def _stem(function: Definition, name: str, functions: dict[str, Definition], depth: int) -> str:
    """The file that a factory imports its backend from.

    The one named like the backend; else the one imported unconditionally; else the last, which stands in the branch
    for NVIDIA; else that of the factory it calls (an alias).
    """
    unconditional = [stem for statement in function.body for stem in _imports(statement)]
    every = [stem for node in ast.walk(function) for stem in _imports(node)]
    if name in every:
        return name
    if unconditional or every:
        return (unconditional or every)[-1]
    calls = (node.func for statement in function.body for node in ast.walk(statement) if isinstance(node, ast.Call))
    aliased = next((functions[f.id] for f in calls if isinstance(f, ast.Name) and f.id in functions), None)
    return _stem(aliased, name, functions, depth - 1) if aliased is not None and depth else ""


def _imports(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom) and node.module and ".layers.attention." in node.module:
        file = node.module.rpartition(".")[2]
        if file.endswith("_backend"):
            yield file.removesuffix("_backend")
