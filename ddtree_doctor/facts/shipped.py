"""Facts of released engines that the doctor brings along, to judge where no SGLang is installed.

`ci/engine_snapshot.py` writes them from a release's source. What an installed engine differs in they cannot know, so a
verdict that rests on them says so (DD003).
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any

from dacite import Config, from_dict
from packaging.version import Version

from ddtree_doctor.facts.model import Engine
from ddtree_doctor.facts.plain import tuples

__all__ = ["SHIPPED", "shipped_engine", "shipped_releases"]

SHIPPED = "shipped"
"""The trait that says that an engine's facts were brought along, not read here."""


@cache
def shipped_releases() -> tuple[str, ...]:
    """The releases that there are facts of, newest first."""
    names = (entry.name for entry in _folder().iterdir())
    found = [match.group(1) for name in names if (match := re.fullmatch(r"engine-(.+)\.json", name))]
    return tuple(sorted(found, key=Version, reverse=True))


def shipped_engine(release: str) -> Engine:
    """The facts of `release`, one of `shipped_releases()`; their trait SHIPPED is true."""
    values: dict[str, Any] = json.loads((_folder() / f"engine-{release}.json").read_text(encoding="utf-8"))
    engine = from_dict(Engine, values, Config(cast=[tuple]))
    return replace(engine, traits={**{key: tuples(value) for key, value in engine.traits.items()}, SHIPPED: True})


def _folder() -> Any:
    return resources.files("ddtree_doctor.fixtures") / "specimens"
