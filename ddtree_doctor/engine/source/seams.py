"""Which of the places that the doctor reaches into are in the engine's source, without importing it.

The places are those of `engine.seams`, plus the hooks that a platform or a plugin overrides. Intact: one of them holds
the name; moved: its module is there and the name is not; absent: no such module.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddtree_doctor.engine.seams import REACHES
from ddtree_doctor.engine.source.evaluate import Evaluator
from ddtree_doctor.engine.source.tree import Definition, Module, SourceTree, definitions, flat
from ddtree_doctor.facts.model import Seam

__all__ = ["HOOKS", "read_seams"]

_REGISTRY = "sglang.srt.speculative.spec_registry:CustomSpecAlgo."
_PLATFORM = "sglang.srt.platforms.interface:SRTPlatform."

HOOKS = {
    "algorithm registration": ("sglang.srt.speculative.spec_info:SpeculativeAlgorithm.register",),
    "width hook": (
        f"{_REGISTRY}get_num_tokens_per_req_for_target_verify",
        f"{_REGISTRY}get_num_tokens_per_bs_for_target_verify",
    ),
    "verify for drafts": (f"{_REGISTRY}supports_target_verify_for_draft",),
    "platform's graph runner": (f"{_PLATFORM}get_graph_runner_cls",),
    "platform's graph backend": (f"{_PLATFORM}get_full_graph_backend_cls",),
    "platform's draft runners": (f"{_PLATFORM}get_speculative_graph_runner_cls",),
    "platform's algorithms": (f"{_PLATFORM}supports_speculative_algorithm",),
    "platform's attention backend": (f"{_PLATFORM}get_default_attention_backend",),
    "platform's dispatch key": (f"{_PLATFORM}get_dispatch_key_name",),
    "function hooks": ("sglang.srt.plugins.hook_registry:HookRegistry",),
}
"""What a platform or plugin overrides, by name: only a method of the class itself or of a base counts."""

_DEEPEST = 8


def read_seams(tree: SourceTree) -> tuple[Seam, ...]:
    """The state of every seam, in the order of the two tables."""
    evaluator = Evaluator(tree)
    named = {name: reach.places for name, reach in REACHES.items()} | HOOKS
    return tuple(_probe(evaluator, name, places) for name, places in named.items())


def _probe(evaluator: Evaluator, name: str, places: tuple[str, ...]) -> Seam:
    state = "absent"
    for place in places:
        dotted, _, path = place.partition(":")
        module = evaluator.tree.resolve(dotted)
        if module is None:
            continue
        state = "moved"
        found = _locate(evaluator, module, path.split("."))
        if found is not None:
            return Seam(name=name, state="intact", file=found[0], line=found[1], detail=place)
    return Seam(name=name, state=state, detail=" or ".join(places))


def _locate(evaluator: Evaluator, module: Module, path: list[str]) -> tuple[str, int] | None:
    """(file, line) of a dotted path in `module`, followed through imports and base classes; None if it is not there."""
    found = evaluator.definition(path[0], module)
    if found is None:
        line = _bound_at(module, path[0]) if len(path) == 1 else None
        return None if line is None else (module.path, line)
    for name in path[1:]:
        found = _member(evaluator, *found, name, _DEEPEST)
        if found is None:
            return None
    return found[1].path, found[0].lineno


def _member(
    evaluator: Evaluator, owner: Definition, module: Module, name: str, depth: int
) -> tuple[Definition, Module] | None:
    """The method `name` of a class or of one of its bases."""
    own = next((node for node in definitions(owner.body) if node.name == name), None)
    if own is not None:
        return own, module
    for base in owner.bases if isinstance(owner, ast.ClassDef) and depth else ():
        above = evaluator.definition(base.id, module) if isinstance(base, ast.Name) else None
        inherited = _member(evaluator, *above, name, depth - 1) if above else None
        if inherited is not None:
            return inherited
    return None


def _bound_at(module: Module, name: str) -> int | None:
    """The line on which a module binds `name` by assignment or by an import from outside the engine."""
    return next((line for line, bound in _bindings(module.tree.body) if bound == name), None)


def _bindings(body: list[ast.stmt]) -> Iterator[tuple[int, str]]:
    for statement in flat(body):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield from ((statement.lineno, alias.asname or alias.name) for alias in statement.names)
        elif isinstance(statement, ast.Assign):
            yield from ((statement.lineno, target.id) for target in statement.targets if isinstance(target, ast.Name))
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield statement.lineno, statement.target.id
