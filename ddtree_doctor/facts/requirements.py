"""What a distribution requires: the `Requires-Dist` lines of its metadata, read as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ddtree_doctor.facts.packages import normal

__all__ = ["metadata_text", "pins", "required_names"]

_REQUIRES = re.compile(r"^Requires-Dist:[ \t]*(.+)$", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LONGEST = 4 * 1024 * 1024


def metadata_text(folder: Path, name: str, version: str) -> str:
    """The headers of METADATA of the distribution installed in `folder`, "" where it cannot be read."""
    for candidate in folder.glob(f"*-{version}.dist-info"):
        if normal(candidate.name.partition("-")[0]) == name:
            try:
                with (candidate / "METADATA").open(encoding="utf-8", errors="replace") as file:
                    return file.read(_LONGEST).partition("\n\n")[0]
            except OSError:
                return ""
    return ""


def required_names(metadata: str) -> tuple[str, ...]:
    """The normalised names that `metadata` requires outside extras, in order."""
    return tuple(dict.fromkeys(normal(m[0]) for line in _lines(metadata) if (m := _NAME.match(line))))


def pins(metadata: str) -> dict[str, str]:
    """Normalised name → version specifier, for each requirement that holds here and names a version.

    Markers are evaluated for this interpreter and machine without extras. A line that is no requirement is left out.
    """
    from packaging.markers import UndefinedEnvironmentName
    from packaging.requirements import InvalidRequirement, Requirement

    found: dict[str, str] = {}
    for line in _lines(metadata):
        try:
            requirement = Requirement(line)
            holds = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        except (InvalidRequirement, UndefinedEnvironmentName):
            continue
        if holds and requirement.specifier:
            found[normal(requirement.name)] = str(requirement.specifier)
    return found


def _lines(metadata: str) -> Iterator[str]:
    return (line for line in _REQUIRES.findall(metadata) if "extra ==" not in line)
