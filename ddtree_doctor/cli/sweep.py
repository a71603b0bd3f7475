"""`doctor sweep`: which DDTree budgets keep which batch sizes, over budget × attention-TP."""

from __future__ import annotations

import argparse

from ddtree_doctor.cli.output import add_color

__all__ = ["numbers", "register"]

LIMIT = 1 << 20


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb."""
    parser = verbs.add_parser("sweep", help="which budgets keep which batch sizes")
    parser.add_argument(
        "--budget", default="1..64", metavar="N..M", help="budgets: 32, 1..128 or 8,16,31 (default 1..64)"
    )
    parser.add_argument("--attn-tp", default="1,2,4,8", metavar="N,…", help="attention-TP sizes (default 1,2,4,8)")
    parser.add_argument(
        "--max-bs", default=48, type=int, metavar="N", help="largest configured batch size (default 48)"
    )
    parser.add_argument("--no-gather", action="store_true", help="no attention-TP gather: then every size is kept")
    parser.add_argument("--json", metavar="FILE", help="write the cells as json (- for standard output)")
    add_color(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a heat map of lost batch sizes, or its cells; always 0 where the input is usable."""
    from ddtree_doctor.errors import UsageError
    from ddtree_doctor.sweep import sweep

    if options.max_bs < 1:
        raise UsageError(f"--max-bs: {options.max_bs} is no batch size; give 1 or more")
    budgets, ranks = numbers("--budget", options.budget), numbers("--attn-tp", options.attn_tp)
    cells = sweep(budgets, ranks, max_bs=options.max_bs, gather=not options.no_gather)
    if options.json:
        import json

        from ddtree_doctor.cli.output import write

        body = {"schema": "ddtree-doctor/sweep/1", "cells": cells}
        write(json.dumps(body, indent=2) + "\n", options.json)
    if options.json != "-":
        from ddtree_doctor.cli.output import console
        from ddtree_doctor.report.heatmap import print_heatmap

        print_heatmap(cells, console(options), max_bs=options.max_bs)
    return 0


def numbers(option: str, text: str) -> tuple[int, ...]:
    """`1..4,8` → (1, 2, 3, 4, 8). Raises UsageError where a part is no positive number or range."""
    from ddtree_doctor.errors import UsageError

    found: list[int] = []
    for part in text.split(","):
        low, dots, high = part.strip().partition("..")
        if not (low.isascii() and low.isdigit() and (not dots or (high.isascii() and high.isdigit()))):
            raise UsageError(f"{option}: {part!r} is no number or range; write 32, 1..128 or 8,16,31")
        first, last = int(low), int(high) if dots else int(low)
        if not 1 <= first <= last <= LIMIT or last - first > 4096:
            raise UsageError(f"{option}: {part!r} must rise, lie within 1..{LIMIT} and span at most 4096 values")
        found.extend(range(first, last + 1))
    return tuple(dict.fromkeys(found))
