"""`doctor env`: what the doctor sees of this machine and its engine. Works without GPU, driver, torch or SGLang."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ddtree_doctor.cli.output import add_color, console
from ddtree_doctor.cli.subject import add_engine, read_engine_of

if TYPE_CHECKING:
    from ddtree_doctor.facts.model import Engine, Host

__all__ = ["register"]


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb."""
    parser = verbs.add_parser("env", help="what the doctor sees of this machine and its engine")
    parser.add_argument("--gpu", metavar="SPEC", help="as for `doctor check`")
    parser.add_argument("--json", metavar="FILE", help="write it as json (- for standard output)")
    add_engine(parser)
    add_color(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print host and engine; always 0 where the options are usable."""
    from ddtree_doctor.facts.host import read_host

    host, engine = read_host(options.gpu), read_engine_of(options)
    if options.json:
        import json
        from dataclasses import asdict

        from ddtree_doctor.cli.output import write

        body = {"schema": "ddtree-doctor/env/1", "host": asdict(host), "engine": asdict(engine)}
        write(json.dumps(body, indent=2) + "\n", options.json)
        return 0
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    for name, text in (*_host(host), *_engine(engine)):
        table.add_row(Text(name, style="bold"), Text(text))
    console(options).print(table)
    return 0


def _host(host: Host) -> list[tuple[str, str]]:
    gpus = ", ".join(f"{gpu.name} ({gpu.arch or 'architecture unknown'})" for gpu in host.gpus)
    rows = [
        ("python", host.python),
        ("platform", host.platform),
        ("GPUs", gpus or "none"),
        ("driver", host.driver or "none"),
    ]
    rows += [(package.name, package.version) for package in host.packages.values()]
    return rows + [(f"unknown: {name}", why) for name, why in host.unknown.items()]


def _engine(engine: Engine) -> list[tuple[str, str]]:
    if engine.unknown:
        return [("SGLang", engine.unknown)]
    moved = [f"{seam.name} ({seam.state})" for seam in engine.seams if seam.state != "intact"]
    return [
        ("SGLang", f"{_release(engine)}, layout {engine.layout or 'not recognised'}"),
        ("algorithms", ", ".join((*engine.algorithms, *(f"{name} (plugin)" for name in engine.plugins)))),
        ("options", str(len(engine.options))),
        ("seams", f"{len(engine.seams) - len(moved)} of {len(engine.seams)} intact"),
        *(("seam not intact", text) for text in moved),
    ]


def _release(engine: Engine) -> str:
    if engine.traits.get("shipped"):
        return f"none read here; facts of {engine.version} that the doctor brings along"
    return f"{engine.version}{' (fork)' if engine.fork else ''}"
