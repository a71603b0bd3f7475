"""The facts of one launch: host and engine as read once, and the configs of the models that it names."""

from __future__ import annotations

from pathlib import Path

from ddtree_doctor.facts.model import Engine, Facts, Host, ModelConfig
from ddtree_doctor.facts.models import read_model
from ddtree_doctor.facts.override import overridden
from ddtree_doctor.launch.model import Flag, Launch

__all__ = ["read_facts"]

TARGET_FIELDS = ("model_path",)
DRAFT_FIELDS = ("speculative_draft_model_path",)


def read_facts(
    launch: Launch,
    host: Host,
    engine: Engine,
    *,
    target_config: str | None = None,
    draft_config: str | None = None,
) -> Facts:
    """The facts of `launch`. A relative model path starts from the launch file's folder, then from the current one.

    `target_config` and `draft_config` are config.json files that the user named: what is wrong with them raises
    UsageError. Any other missing config leaves `ModelConfig.unknown`. What the launch overrides is applied.
    """
    draft = _draft(launch, draft_config)
    return Facts(
        host=host,
        engine=engine,
        launch=launch,
        target=overridden(_target(launch, target_config), launch),
        draft=None if draft is None else overridden(draft, launch),
    )


def _target(launch: Launch, override: str | None) -> ModelConfig:
    flag = _given(launch, TARGET_FIELDS)
    if flag is None and override is None:
        return ModelConfig(name="target", unknown="the launch names no model (--model-path)")
    return _read("target", flag, launch, override)


def _draft(launch: Launch, override: str | None) -> ModelConfig | None:
    flag = _given(launch, DRAFT_FIELDS)
    return None if flag is None and override is None else _read("draft", flag, launch, override)


def _read(role: str, flag: Flag | None, launch: Launch, override: str | None) -> ModelConfig:
    name = flag.value if flag is not None else None
    if override is not None:
        return read_model(name or role, override=override)
    if flag is None or name is None:
        return ModelConfig(name=role, unknown=(flag.unknown if flag else "") or f"the {role} model has no value")
    file = launch.location.file
    beside = read_model(name, base=Path(file).parent) if file else None
    return read_model(name) if beside is None or beside.path is None else beside


def _given(launch: Launch, names: tuple[str, ...]) -> Flag | None:
    return next((flag for name in names if (flag := launch.flag(name))), None)
