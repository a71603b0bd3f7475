"""The rules, one a file (`dd108_width_drops_batch_sizes.py`), found by name and sorted by code."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from ddtree_doctor.rule import Check

__all__ = ["rules"]


@cache
def rules() -> tuple[type[Check], ...]:
    """Every rule, sorted by code. Raises ValueError if two share a code or a file's name does not begin with it."""
    by_code: dict[str, type[Check]] = {}
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("dd"):
            continue
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        for rule in vars(loaded).values():
            # A rule may build on another file's; that one is listed under its own file.
            if not (isinstance(rule, type) and issubclass(rule, Check) and rule.__module__ == loaded.__name__):
                continue
            if rule.code in by_code or not module.name.startswith(f"{rule.code.lower()}_"):
                raise ValueError(f"{module.name}: code {rule.code} is taken or is not the file's")
            by_code[rule.code] = rule
    return tuple(by_code[code] for code in sorted(by_code))
