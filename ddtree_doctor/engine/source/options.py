"""Every command-line option of the engine, in the order of its parser."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddtree_doctor.engine.source.declared import declared_options, fields_of
from ddtree_doctor.engine.source.evaluate import Evaluator
from ddtree_doctor.engine.source.registered import registered_options
from ddtree_doctor.engine.source.tree import SourceTree
from ddtree_doctor.facts.model import Option

__all__ = ["SERVER_ARGS", "read_options"]

SERVER_ARGS = "srt/server_args.py"
SERVE = "cli/serve.py"


def read_options(tree: SourceTree) -> tuple[Option, ...]:
    """The options of `sglang.launch_server` and `sglang serve`; empty where server_args cannot be read.

    An option kept under several spellings that set one field stands first in its current form, then in those that
    the engine is giving up.
    """
    module = tree.module(SERVER_ARGS)
    if module is None:
        return ()
    evaluator = Evaluator(tree)
    fields = fields_of(evaluator, tree, module)
    found = list(declared_options(evaluator, fields))
    function = module.find("ServerArgs.add_cli_args")
    if function is not None:
        defaults = {name: field.default for name, field in fields.items() if field.default is not None}
        found.extend(registered_options(evaluator, module, function, defaults))
    found.extend(_of_serve(tree))
    return tuple(sorted(found, key=lambda option: bool(option.deprecated)))


def _of_serve(tree: SourceTree) -> Iterator[Option]:
    """What `sglang serve` takes out of the arguments itself: the texts it compares an argument with."""
    module = tree.module(SERVE)
    function = module.find("_extract_model_type_override") if module else None
    for node in ast.walk(function) if function else ():
        if isinstance(node, ast.Compare) and isinstance(node.comparators[0], ast.Constant):
            flag = node.comparators[0].value
            if isinstance(flag, str) and flag.startswith("--"):
                yield Option(name=flag[2:].replace("-", "_"), options=(flag,), line=node.lineno)
