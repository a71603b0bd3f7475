"""The facts a verdict rests on. Frozen dataclasses that go to JSON and back unchanged (`facts.bundle`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ddtree_doctor.knowledge import NotKnown
from ddtree_doctor.launch.model import Launch

__all__ = ["Engine", "Facts", "Gpu", "Host", "ModelConfig", "Option", "Package", "Seam"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU. `capability` is (major, minor), None where only a name is known; `memory_mib` in MiB."""

    name: str
    capability: tuple[int, int] | None = None
    memory_mib: int | None = None

    @property
    def arch(self) -> str | None:
        """`sm_120` for capability (12, 0)."""
        return None if self.capability is None else f"sm_{self.capability[0]}{self.capability[1]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """An installed distribution and the GPU architectures its libraries carry (`sm_90`), None where not readable."""

    name: str
    version: str
    archs: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The machine judged for. `source` is `nvml`, `--gpu` or `none`; `unknown` maps a field to why it is not known."""

    python: str
    platform: str
    gpus: tuple[Gpu, ...] = ()
    source: str = "none"
    driver: str | None = None
    packages: Mapping[str, Package] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """A model's config.json: `values` is the object itself, bounded; `unknown` says why it is empty."""

    name: str
    path: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    unknown: str = ""

    def need(self, *keys: str) -> Any:
        """The first of `keys` (dotted for nesting) that the config holds. Raises NotKnown if none is there."""
        if self.unknown:
            raise NotKnown(f"config of {self.name}", self.unknown)
        for key in keys:
            found = self.get(key)
            if found is not None:
                return found
        raise NotKnown(f"{keys[0]} of {self.name}", f"config.json holds none of {', '.join(keys)}")

    def get(self, key: str) -> Any:
        """The value at a dotted key, also looked for under `text_config`; None where it is absent."""
        for root in (self.values, self.values.get("text_config")):
            value: Any = root
            for part in key.split("."):
                value = value.get(part) if isinstance(value, Mapping) else None
            if value is not None:
                return value
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One command-line option of the engine, read from its source.

    `name` is the field it sets, `type` the Python type's name, `arity` argparse's nargs (`""` none, `0` for a switch).
    `default` is the literal in the source; None with `default_known` false where the source computes it.
    """

    name: str
    options: tuple[str, ...]
    type: str = "str"
    arity: str = ""
    choices: tuple[str, ...] | None = None
    default: Any = None
    default_known: bool = False
    deprecated: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seam:
    """One named place in the engine that the doctor reaches into. `state` is `intact`, `moved` or `absent`."""

    name: str
    state: str
    file: str | None = None
    line: int | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """The installed SGLang, by its source alone.

    `layout` names how graphs are sized (`contract.layout` lists them), "" where none is recognised. `algorithms` are
    the enum's members; `plugins` those that a selected plugin adds. `mask_references` counts, for each attention
    backend by name and by file, how often its source reads `custom_mask` for its value. `traits` are those of
    `contract.layout.TRAITS`. `pins` maps a distribution to its specifier. `digest` is of the source files read.
    """

    version: str | None = None
    root: str | None = None
    fork: bool = False
    layout: str = ""
    algorithms: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    pins: Mapping[str, str] = field(default_factory=dict)
    seams: tuple[Seam, ...] = ()
    mask_references: Mapping[str, int] = field(default_factory=dict)
    traits: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""
    unknown: str = ""

    def not_known(self, what: str) -> NotKnown:
        """The exception to raise where `what` of the engine was needed and could not be read."""
        return NotKnown(f"{what} of the engine", self.unknown or "no SGLang is installed here")

    def option(self, name: str) -> Option | None:
        """The option that sets field `name`, None if this engine has none."""
        return next((option for option in self.options if option.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything true of one launch on one host. `draft` is None where the launch names no draft model."""

    host: Host
    engine: Engine
    launch: Launch
    target: ModelConfig
    draft: ModelConfig | None = None
