"""What varies between engines of one layout, each trait told by one place in the source (`contract.layout.TRAITS`).

A trait whose place is not found, or does not read as any known form, is left out: whoever needs it says UNKNOWN.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ddtree_doctor.contract.layout import Layout
from ddtree_doctor.engine.source.evaluate import UNRESOLVED, Evaluator, literal
from ddtree_doctor.engine.source.options import SERVER_ARGS
from ddtree_doctor.engine.source.sizing import Runner, draft_widths, verify_overrides, width_by_hook
from ddtree_doctor.engine.source.tree import Definition, SourceTree

__all__ = ["read_traits"]

_COMMON = "srt/utils/common.py"
_MEMORY = (
    ("srt/arg_groups/memory_hook.py", "handle_gpu_memory_settings"),
    (SERVER_ARGS, "ServerArgs._handle_gpu_memory_settings"),
)
_SPECULATION = "srt/arg_groups/speculative_hook.py"
_DFLASH = "srt/speculative/dflash_utils.py"
_KDA = "srt/layers/attention/linear/kda_backend.py"
_ADMISSION = ("can_run_graph", "can_run")
_SMALL_GPU = "gpu_mem < 35 * 1024"


def read_traits(tree: SourceTree, runner: Runner | None, layout: Layout | None) -> dict[str, Any]:
    """Trait → value, those alone that were recognised."""
    found: dict[str, Any] = dict(draft_widths(tree, layout))
    for name, read in _READERS.items():
        value = read(tree)
        if value is not None:
            found[name] = value
    if runner is not None:
        found.update(_of_runner(runner))
        found["verify_overrides"] = dict(verify_overrides(runner, layout))
        found["width_by_hook"] = width_by_hook(tree)
    return found


def _of_runner(runner: Runner) -> Iterator[tuple[str, Any]]:
    yield "graph_runner", f"{runner.module.path}:{runner.definition.name}"
    methods = {node.name: node for node in runner.definition.body if isinstance(node, ast.FunctionDef)}
    admission = next((methods[name] for name in _ADMISSION if name in methods), None)
    if admission is not None:
        yield "admission_by_name", any(_divides_for_some(node) for node in ast.walk(admission))
        yield "width_gate", any(_compares(node, ast.NotEq, "num_tokens_per_req") for node in ast.walk(admission))


def _divides_for_some(node: ast.AST) -> bool:
    """`max(global_num_tokens_cpu) // width if spec_algorithm.is_eagle() or … else max(global_num_tokens_cpu)`."""
    if not isinstance(node, ast.IfExp) or "spec_algorithm.is_" not in ast.unparse(node.test):
        return False
    return "global_num_tokens_cpu" in ast.unparse(node.body) and "//" in ast.unparse(node.body)


def _gather_a2a(tree: SourceTree) -> tuple[str, ...] | None:
    function = _function(tree, _COMMON, "require_mlp_tp_gather")
    if function is None:
        return None
    names = [name.rpartition(".")[2] for name in _called(function) if "a2a_backend" in name]
    return tuple(dict.fromkeys(name.removeprefix("is_") for name in names if name.startswith("is_"))) or None


def _attn_tp_gather_opt_out(tree: SourceTree) -> bool | None:
    function = _function(tree, _COMMON, "require_attn_tp_gather")
    return None if function is None else "disable_attn_tp_gather" in _attributes(function)


def _small_gpu_max_bs(tree: SourceTree) -> tuple[int, int] | None:
    """(few ranks, many ranks): the two numbers under the branch for less than 35 GiB."""
    function = _memory_settings(tree)
    branch = next((n for n in ast.walk(function) if _is_branch(n, _SMALL_GPU)), None) if function else None
    for statement in branch.body if isinstance(branch, ast.If) else ():
        for node in ast.walk(statement):
            if isinstance(node, ast.If) and ast.unparse(node.test).endswith("tp_size < 4"):
                few, many = _number(node.body), _number(node.orelse)
                return (few, many) if few and many else None
    return None


def _max_bs_capped_by_running(tree: SourceTree) -> bool | None:
    function = _memory_settings(tree)
    if function is None:
        return None
    comparisons = (ast.unparse(node) for node in ast.walk(function) if isinstance(node, ast.Compare))
    return any("max_bs > " in text and text.endswith("max_running_requests") for text in comparisons)


def _paged_tree_backends(tree: SourceTree) -> tuple[str, ...] | None:
    """Attention backends that the engine lets verify an EAGLE tree over pages of several tokens."""
    for path in (_SPECULATION, SERVER_ARGS):
        module = tree.module(path)
        for node in ast.walk(module.tree) if module else ():
            if isinstance(node, ast.BoolOp) and _refuses_paged_trees(node):
                refused = next(c for c in node.values if isinstance(c, ast.Compare) and isinstance(c.ops[0], ast.NotIn))
                assert module is not None
                scope = {"_PAGE_TREE_SPEC_BACKENDS": _assigned_anywhere(module.tree, "_PAGE_TREE_SPEC_BACKENDS")}
                value = Evaluator(tree).value(refused.comparators[0], module, {k: v for k, v in scope.items() if v})
                return None if value is UNRESOLVED else tuple(str(name) for name in value)
    return None


def _refuses_paged_trees(node: ast.BoolOp) -> bool:
    text = ast.unparse(node)
    named = "speculative_eagle_topk > 1" in text and "page_size > 1" in text and "attention_backend not in" in text
    return named and any(isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.NotIn) for part in node.values)


def _dflash_skips_mask(tree: SourceTree) -> tuple[str, ...] | None:
    """Classes of the attention backends to which DFLASH hands no mask: its chain is causal anyway."""
    module = tree.module(_DFLASH)
    value = (
        Evaluator(tree).value(module.assigned("_DFLASH_VERIFY_SKIP_CUSTOM_MASK_BACKENDS"), module) if module else None
    )
    return tuple(sorted(str(name) for name in value)) if isinstance(value, list | set | frozenset | tuple) else None


def _kda_fused_verify(tree: SourceTree) -> int | None:
    """The most draft tokens that the fused KDA verify kernel takes; beyond it a slower one runs."""
    module = tree.module(_KDA)
    for node in ast.walk(module.tree) if module else ():
        if (
            isinstance(node, ast.Compare)
            and len(node.ops) == 2
            and ast.unparse(node.comparators[0]) == "draft_token_num"
        ):
            most = literal(node.comparators[1])
            return most if isinstance(most, int) else None
    return None


_READERS: Mapping[str, Callable[[SourceTree], Any]] = {
    "gather_a2a": _gather_a2a,
    "attn_tp_gather_opt_out": _attn_tp_gather_opt_out,
    "small_gpu_max_bs": _small_gpu_max_bs,
    "max_bs_capped_by_running": _max_bs_capped_by_running,
    "paged_tree_backends": _paged_tree_backends,
    "dflash_skips_mask": _dflash_skips_mask,
    "kda_fused_verify": _kda_fused_verify,
}


def _function(tree: SourceTree, path: str, name: str) -> Definition | None:
    module = tree.module(path)
    return module.find(name) if module else None


def _memory_settings(tree: SourceTree) -> Definition | None:
    return next((f for path, name in _MEMORY if (f := _function(tree, path, name))), None)


def _called(function: ast.AST) -> list[str]:
    """The dotted names of every call, in the order of the text; a call in a chain stands as `f().g`."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    calls.sort(key=lambda call: (call.lineno, call.col_offset, -(call.end_col_offset or 0)))
    return [ast.unparse(call.func) for call in calls]


def _attributes(function: ast.AST) -> set[str]:
    return {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}


def _compares(node: ast.AST, operator: type[ast.cmpop], attribute: str) -> bool:
    return (
        isinstance(node, ast.Compare)
        and isinstance(node.ops[0], operator)
        and isinstance(node.left, ast.Attribute)
        and node.left.attr == attribute
    )


def _is_branch(node: ast.AST, test: str) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == test


def _number(body: list[ast.stmt]) -> int | None:
    value = literal(body[0].value) if body and isinstance(body[0], ast.Assign) else None
    return value if isinstance(value, int) else None


def _assigned_anywhere(tree: ast.AST, name: str) -> ast.expr | None:
    """The value of the first assignment to `name` in any scope."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
            return node.value
    return None
