"""How the engine sizes its graphs: its layout, the class that holds the width, and the widths of the draft runners."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ddtree_doctor.contract.layout import Layout, recognise
from ddtree_doctor.engine.source.tree import Definition, Module, SourceTree, definitions

__all__ = [
    "ALGORITHMS",
    "Runner",
    "algorithms",
    "draft_widths",
    "find_runner",
    "layout_of",
    "verify_overrides",
    "width_by_hook",
]

ALGORITHMS = "srt/speculative/spec_info.py"
_ENUM = "SpeculativeAlgorithm"
_RUNNERS = (
    ("srt/model_executor/runner/decode_cuda_graph_runner.py", "DecodeCudaGraphRunner"),
    ("srt/model_executor/cuda_graph_runner.py", "CudaGraphRunner"),
)
_DRAFT_RUNNERS = {
    "draft_extend": (
        "srt/speculative/eagle_draft_extend_cuda_graph_runner.py",
        "EAGLEDraftExtendCudaGraphRunner",
    ),
    "multi_layer_draft_extend": (
        "srt/speculative/multi_layer_eagle_draft_extend_cuda_graph_runner.py",
        "MultiLayerEagleDraftExtendCudaGraphRunner",
    ),
}
_WIDTH_RULE = ("srt/speculative/spec_utils.py", "resolve_num_tokens_per_req")
_ANSWERS = (
    (ALGORITHMS, f"{_ENUM}.get_num_tokens_per_req_for_target_verify"),
    (ALGORITHMS, f"{_ENUM}.get_num_tokens_per_bs_for_target_verify"),
    ("srt/model_executor/model_runner.py", "ModelRunner.decode_num_tokens_per_req"),
    ("srt/model_executor/model_runner.py", "ModelRunner.decode_num_tokens_per_bs"),
    _WIDTH_RULE,
)
"""Where an algorithm of the enum may answer another verify width than the number of draft tokens."""

_TERMS = (
    ("steps", ("speculative_num_steps",)),
    ("draft_tokens", ("speculative_num_draft_tokens", "resolve_num_tokens_per_req")),
    ("step", ("step",)),
    ("front_tokens", ("num_front_tokens",)),
)


@dataclass(frozen=True, slots=True)
class Runner:
    """The class that captures decode and target verify, with the module it stands in."""

    module: Module
    definition: ast.ClassDef

    @property
    def assigned(self) -> frozenset[str]:
        """The attributes that it assigns on itself."""
        return frozenset(name for name, _ in self_assignments(self.definition))


def algorithms(tree: SourceTree) -> tuple[str, ...]:
    """The members of the engine's enum of algorithms, in order; empty where there is none."""
    found = _enum(tree)
    names = (_member(statement) for statement in found.body) if found else iter(())
    return tuple(name for name in names if name is not None)


def find_runner(tree: SourceTree) -> Runner | None:
    """The first of the known graph runners that this source has, None if it has none."""
    for path, name in _RUNNERS:
        module = tree.module(path)
        found = module.find(name) if module else None
        if module is not None and isinstance(found, ast.ClassDef):
            return Runner(module, found)
    return None


def layout_of(tree: SourceTree, runner: Runner | None) -> Layout | None:
    """The layout by what is there, None where it is none of the known."""
    found = _enum(tree)
    if runner is None or found is None:
        return None
    return recognise(runner.assigned, (node.name for node in definitions(found.body)))


def draft_widths(tree: SourceTree, layout: Layout | None) -> Iterator[tuple[str, str]]:
    """(trait, form) of the draft runners' widths: `draft_extend` → `steps+1`."""
    if layout is None:
        return
    for trait, (path, name) in _DRAFT_RUNNERS.items():
        module = tree.module(path)
        found = module.find(name) if module else None
        values = (
            [value for attribute, value in self_assignments(found) if attribute == layout.attribute] if found else []
        )
        form = _form(tree, values[-1]) if values else ""
        if form:
            yield trait, form


def width_by_hook(tree: SourceTree) -> tuple[str, ...]:
    """The algorithms that the width hook, or the code that calls it, tells apart; all others get the draft tokens.

    In the fork of the founding fault the hook is there and does not name DDTREE.
    """
    members = set(algorithms(tree))
    named: set[str] = set()
    for path, name in _ANSWERS:
        module = tree.module(path)
        found = module.find(name) if module else None
        named.update(_tested(found) if found else ())
    return tuple(sorted(named & members))


def verify_overrides(runner: Runner | None, layout: Layout | None) -> Mapping[str, str]:
    """Algorithm → expression, where the runner itself gives one algorithm a width of its own.

    Forks do so (`if spec_algorithm.is_ddtree(): self.num_tokens_per_bs = budget + 1`), in a release no runner does: the
    number of draft tokens, or a call of the hook, is no override.
    """
    if runner is None or layout is None:
        return {}
    found: dict[str, str] = {}
    for node in ast.walk(runner.definition):
        if isinstance(node, ast.If):
            value = next((v for name, v in _assignments_in(node.body) if name == layout.attribute), None)
            text = ast.unparse(value) if value is not None else ""
            if text and not text.endswith("speculative_num_draft_tokens") and "get_num_tokens_per" not in text:
                found.update(dict.fromkeys(_tested(node.test), text))
    return found


def self_assignments(definition: Definition) -> Iterator[tuple[str, ast.expr]]:
    """(attribute, value) of every `self.attribute = value` inside a class or function, in order."""
    for node in ast.walk(definition):
        yield from _assigned(node)


def _assignments_in(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for statement in body:
        yield from _assigned(statement)


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                yield target.attr, node.value


def _tested(test: ast.AST) -> Iterator[str]:
    """`DDTREE` of a test that calls `is_ddtree()`."""
    for node in ast.walk(test):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.startswith("is_"):
            yield node.func.attr.removeprefix("is_").upper()


def _enum(tree: SourceTree) -> ast.ClassDef | None:
    module = tree.module(ALGORITHMS)
    found = module.find(_ENUM) if module else None
    return found if isinstance(found, ast.ClassDef) else None


def _member(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        name = statement.targets[0].id
        return name if name.isupper() else None
    return None


def _form(tree: SourceTree, value: ast.expr) -> str:
    """A width in the words of `contract.layout.TRAITS`: `steps+1+step`; "" where a term of it is not known."""
    words = [_word(tree, term) for term in _sum_of(value)]
    return "+".join(words) if all(words) else ""


def _sum_of(value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        yield from _sum_of(value.left)
        yield from _sum_of(value.right)
    else:
        yield value


def _word(tree: SourceTree, term: ast.expr) -> str:
    if isinstance(term, ast.Constant):
        return str(term.value)
    called = isinstance(term, ast.Call)
    name = ast.unparse(term.func if isinstance(term, ast.Call) else term).rpartition(".")[2]
    word = next((word for word, names in _TERMS if name in names), "")
    return word if not called or _extends_by_draft_tokens(tree) else ""


def _extends_by_draft_tokens(tree: SourceTree) -> bool:
    """Whether the engine's one rule for widths answers the number of draft tokens for draft extend."""
    module = tree.module(_WIDTH_RULE[0])
    found = module.find(_WIDTH_RULE[1]) if module else None
    for node in ast.walk(found) if found else ():
        if isinstance(node, ast.If) and "'draft_extend'" in ast.unparse(node.test):
            returned = node.body[0]
            return isinstance(returned, ast.Return) and ast.unparse(returned).endswith("speculative_num_draft_tokens")
    return False
