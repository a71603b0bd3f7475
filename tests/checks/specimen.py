"""Specimens of the static rules: readable cases under fixtures/specimens, drawn in full through the doctor's own path.

A file `DD108.yaml` holds two lists, `fires` and `silent`, of cases with these keys:

    name       what is special about it, a sentence without a full stop
    launch     text as a user has it in a file
    gpus       as for --gpu, more kinds separated by commas; absent: no GPU
    driver     of the host
    packages   distribution → {version, archs}
    target     config.json as an object; absent: looked for by the model's name among fixtures/models
    draft      the same for the draft model
    engine     a release with a snapshot here, or fields of Engine; `base` starts from a snapshot, `add_algorithms`
               adds to its enum; absent: the snapshot of the newest release
    plugins    the doctor's own plugins that are selected, as for --plugin
    expects    message_contains, evidence: what the first finding must hold (for `fires`)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from dacite import Config, from_dict

from ddtree_doctor.contract.build import build
from ddtree_doctor.engine.plugins import plugin_named
from ddtree_doctor.facts.gpus import parse_gpus
from ddtree_doctor.facts.model import Engine, Facts, Gpu, Host, ModelConfig, Package
from ddtree_doctor.facts.models import read_model
from ddtree_doctor.launch import read as read_launches
from ddtree_doctor.launch.model import Launch
from ddtree_doctor.rule import Case

FOLDER = Path(__file__).parents[2] / "fixtures" / "specimens"
NEWEST = "0.5.23"
KEYS = {"name", "launch", "gpus", "driver", "packages", "target", "draft", "engine", "plugins", "expects"}


@dataclass(frozen=True)
class Specimen:
    """One case with what is expected of the rule `code` on it."""

    code: str
    fires: bool
    name: str
    case: Case
    message_contains: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)


def specimens() -> list[Specimen]:
    """Every specimen of every static rule."""
    return [specimen for path in sorted(FOLDER.glob("DD*.yaml")) for specimen in read(path)]


def read(path: Path) -> list[Specimen]:
    """The specimens in one file. Raises ValueError for a key that no case has."""
    both = yaml.safe_load(path.read_text(encoding="utf-8"))
    if set(both) != {"fires", "silent"}:
        raise ValueError(f"{path.name}: has {sorted(both)}, not fires and silent")
    return [_specimen(path.stem, which == "fires", entry) for which in both for entry in both[which]]


def _specimen(code: str, fires: bool, entry: Mapping[str, Any]) -> Specimen:
    if strange := set(entry) - KEYS:
        raise ValueError(f"{code}, {entry.get('name')!r}: no case has the keys {sorted(strange)}")
    return Specimen(code=code, fires=fires, name=entry["name"], case=_case(entry), **entry.get("expects", {}))


def _case(entry: Mapping[str, Any]) -> Case:
    engine = _engine(entry)
    (launch,) = read_launches(entry["launch"].encode(), engine.options)
    target = _model(launch, "model_path", entry.get("target"))
    draft = _model(launch, "speculative_draft_model_path", entry.get("draft"))
    facts = Facts(
        host=_host(entry),
        engine=engine,
        launch=launch,
        target=target or ModelConfig(name="target", unknown="the launch names no model"),
        draft=draft,
    )
    return Case(facts=facts, contract=build(facts))


def _host(entry: Mapping[str, Any]) -> Host:
    packages = {name: Package(name=name, **_tuples(value)) for name, value in entry.get("packages", {}).items()}
    gpus: tuple[Gpu, ...] = tuple(gpu for spec in _words(entry.get("gpus")) for gpu in parse_gpus(spec))
    return Host(
        python="3.11.0",
        platform="linux x86_64",
        gpus=gpus,
        source="--gpu" if gpus else "none",
        driver=entry.get("driver"),
        packages=packages,
    )


def _words(text: str | None) -> list[str]:
    return text.split(",") if text else []


def _tuples(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(item) if isinstance(item, list) else item for key, item in value.items()}


def _engine(entry: Mapping[str, Any]) -> Engine:
    given = entry.get("engine", NEWEST)
    fields = {"base": given} if isinstance(given, str) else dict(given)
    base = fields.pop("base", None)
    start = snapshot(base) if base else Engine()
    added = tuple(fields.pop("add_algorithms", ()))
    changed = from_dict(Engine, fields, Config(cast=[tuple]))
    engine = replace(start, **{name: getattr(changed, name) for name in fields})
    plugins = [plugin_named(name) for name in entry.get("plugins", ())]
    return replace(
        engine,
        algorithms=(*engine.algorithms, *added),
        plugins=tuple(name for plugin in plugins for name in plugin.algorithms),
        options=(*engine.options, *(option for plugin in plugins for option in plugin.options)),
    )


@cache
def snapshot(release: str) -> Engine:
    """The engine facts of a release, as ci/engine_snapshot.py read them from its source."""
    text = (FOLDER / f"engine-{release}.json").read_text(encoding="utf-8")
    return from_dict(Engine, json.loads(text), Config(cast=[tuple]))


def _model(launch: Launch, name: str, values: Mapping[str, Any] | None) -> ModelConfig | None:
    flag = launch.flag(name)
    if flag is None:
        return None
    if values is not None:
        return ModelConfig(name=flag.value or name, path="given", values=values)
    return read_model(flag.value or "", base=FOLDER)
