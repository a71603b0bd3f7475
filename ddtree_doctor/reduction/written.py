"""A case as a Python file that shows it without the doctor: a short head, the case as data, and the code it runs."""

from __future__ import annotations

import json
import pprint
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import indent, wrap
from typing import Any

from ddtree_doctor import __version__
from ddtree_doctor.engine.job import Job
from ddtree_doctor.engine.plugins import plugin_named
from ddtree_doctor.engine.reaches import FIELDS, OLDER, REACHES, SERVING
from ddtree_doctor.engine.resolve import set_by_probe
from ddtree_doctor.reduction.flat import Flat, flattened
from ddtree_doctor.reduction.modules import Import, module_of
from ddtree_doctor.reduction.taken import taken

__all__ = ["case_data", "written"]

_ALONE = "ddtree_doctor.engine.replay.alone"
_WATCH = "ddtree_doctor.engine.replay.watch"
_PLATFORM = "ddtree_doctor.engine.platform"
_REACHES = "ddtree_doctor.engine.reaches"
_BACKEND = ("ddtree_doctor.engine.backend", "RecordingBackend")
_CALLED_BY_OTHERS = (_BACKEND, ("ddtree_doctor.engine.replay.launches", "_PatchedOnce"))
"""Classes that SGLang and Triton call: all of their methods go into the file."""

_IMPORTED = {
    "Any": Import("typing", "Any", "from typing import Any"),
    "os": Import("os", statement="import os"),
    "sys": Import("sys", statement="import sys"),
    "traceback": Import("traceback", statement="import traceback"),
}
_TABLES = ("REACHES", "OLDER", "SERVING", "FIELDS")

_HEAD = '''\
#!/usr/bin/env python3
"""{about}

{command}

{details}

Run it where SGLang is installed (written for {release}); it needs no GPU, no model files and no network, and takes
about 15 seconds:

    python {name}                 exit status 1: it fails; 0: it does not; 125: it could not run
    python {name} --apply FILE    the same once FILE's apply() has changed SGLang: a patch to try

SGLang's own workers start on the CPU with a tiny random model, its Triton kernels run in Triton's interpreter, and its
graph runner captures into a tape that is replayed. `reproduce` says what is compared; below it comes what that takes.
Written by ddtree-doctor {version}, which it does not need.
"""
'''

_COULD_NOT_RUN = '''\
def could_not_run(*error: Any) -> None:
    """An error that is none of a verify pass says nothing of the case: 125, which `git bisect run` skips."""
    traceback.print_exception(*error)
    sys.stdout.flush()
    os._exit(125)


sys.excepthook = could_not_run'''

_TAIL = '''\
def platform() -> str:
    """SGLang's platform plugin, which it loads while it is imported: it runs on the CPU and records graphs."""
PLATFORM
    globals()["RecordingPlatform"] = RecordingPlatform
    return f"{__name__}.RecordingPlatform"


def plugin() -> None:
    """SGLang's plugin: the algorithm of the case, where SGLang itself has none such."""
PLUGIN

if __name__ == "__main__":
    become_host(CASE, __name__)
    sys.exit(reproduce(CASE, WATCH))
'''


def case_data(job: Job, code: str, scenarios: Sequence[Any], about: str) -> dict[str, Any]:
    """All that a written file is told, as plain data: the start, the tiny models' configs, the scenarios."""
    with TemporaryDirectory() as folder:
        fields = set_by_probe(job, Path(folder))
        paths = {name: Path(value).name for name, value in fields.items() if str(value).startswith(folder)}
        models = {name: json.loads((Path(folder) / name / "config.json").read_text()) for name in set(paths.values())}
    return {
        "about": about,
        "code": code,
        "scenarios": list(scenarios),
        "options": list(job.options),
        "fields": {name: "" if name in paths else value for name, value in fields.items() if value is not None},
        "paths": paths,
        "models": models,
        "plugin": job.plugin,
        "plugin_options": _plugin_options(job),
        "environment": dict(job.environment),
        "expert_gather": job.expert_gather,
        "gpu_mib": job.gpu_mib,
        "context": job.context,
        "seed": 0,
    }


def _plugin_options(job: Job) -> dict[str, Any]:
    """What the launch gives of the options that its plugin declares."""
    known = {option.name for option in plugin_named(job.plugin).options} if job.plugin else set()
    return {name: value for name, value in job.values.items() if name in known}


def written(
    case: Mapping[str, Any], *, name: str, command: str, details: Sequence[str], release: str, watched: bool
) -> str:
    """The text of the file `name` for a case of `case_data`. `watched` lets it look for stray memory accesses."""
    watch = "TritonWatch" if watched else "Unwatched"
    roots = [(_ALONE, "become_host"), (_ALONE, "reproduce"), (_WATCH, watch), _BACKEND]
    plugin = plugin_named(case["plugin"]) if case["plugin"] else None
    if plugin is not None:
        roots.append(_place(plugin.register))
    flat = flattened(roots, cut=[(_REACHES, table) for table in _TABLES], whole=_CALLED_BY_OTHERS)
    flat.wanted.add((_REACHES, "Reach"))
    flat.imports |= _IMPORTED
    support = [name for name in flat.modules() if name != _ALONE]
    head = _HEAD.format(
        about=_quoted(case["about"], ""),
        command=_quoted(command, "    "),
        details="\n".join(_quoted(line, "") for line in details),
        release=release,
        name=_quoted(name, ""),
        version=__version__,
    )
    tail = (
        _TAIL.replace("PLUGIN", _plugin(plugin.register if plugin else None))
        .replace("PLATFORM", _platform())
        .replace("WATCH", watch)
    )
    parts = (
        head + "\nfrom __future__ import annotations",
        "\n".join(flat.statements(standard=True)),
        _COULD_NOT_RUN,
        'os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported',
        "\n".join(flat.statements(standard=False)),
        f"CASE = {pprint.pformat(dict(case), width=118, sort_dicts=False, compact=True)}",
        taken(flat, [_ALONE], {}),
        taken(flat, support, {(_REACHES, table): _table(table, flat) for table in _TABLES}),
        tail,
    )
    return "\n\n\n".join(parts)


def _quoted(text: str, margin: str) -> str:
    """Text as it may stand in a docstring, in lines of at most 118 characters."""
    safe = " ".join(text.split()).replace("\\", "\\\\").replace('"', "'")
    return "\n".join(wrap(safe, 118, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False))


def _place(dotted: str) -> tuple[str, str]:
    module, _, name = dotted.partition(":")
    return module, name


def _plugin(register: str | None) -> str:
    if register is None:
        return ""
    return f'    {_place(register)[1]}(CASE["plugin_options"])\n'


def _platform() -> str:
    """The platform's module as it stands, without its docstring, what it exports and its imports from the package."""
    source = module_of(_PLATFORM).source.decode()
    body = source[source.index("from sglang") :].splitlines()
    kept = "\n".join(line for line in body if not line.startswith(("from __", "from ddtree_doctor", "__all__")))
    return indent(kept, "    ").rstrip()


def _table(name: str, flat: Flat) -> str:
    """One of the tables of seams with the entries that the file's code names."""
    if name == "FIELDS":
        used = {key: names for key, names in FIELDS.items() if key in flat.strings}
        return f"FIELDS = {pprint.pformat(used, width=118)}"
    table = {"REACHES": REACHES, "OLDER": OLDER, "SERVING": SERVING}[name]
    rows = [
        f"        ({key!r}, {reach.use!r}, {reach.places!r}),\n" for key, reach in table.items() if key in flat.strings
    ]
    made = "Reach(name=name, use=use, places=places)"
    return f"{name} = {{\n    name: {made}\n    for name, use, places in (\n{''.join(rows)}    )\n}}"
