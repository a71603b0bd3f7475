"""Pack wheels into folders of at most a given size. A wheel larger than a piece is cut and joined on the host."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any


def pack(wheels: Path, out: Path, limit: int, facts: dict[str, Any], installer: Path) -> list[Path]:
    """Write `out/piece-1`, `out/piece-2`, …, each with the installer and the manifest of all. Returns the pieces."""
    parts = [part for wheel in sorted(wheels.glob("*.whl")) for part in _cut(wheel, limit)]
    bins = _fill(sorted(parts, key=lambda part: -part.stat().st_size), limit)
    manifest = {
        "schema": "ddtree-doctor/airgap/1",
        **facts,
        "pieces": [{"files": {part.name: _digest(part) for part in piece}} for piece in bins],
    }
    folders = []
    for number, piece in enumerate(bins, 1):
        folder = out / f"piece-{number}"
        folder.mkdir(parents=True)
        for part in piece:
            shutil.move(part, folder / part.name)
        (folder / "manifest.json").write_text(json.dumps(manifest, indent=1))
        shutil.copy(installer, folder / "install.py")
        folders.append(folder)
    return folders


def _cut(wheel: Path, limit: int) -> list[Path]:
    """The wheel itself, or its parts `NAME.whl.part-001`, … where it exceeds the limit."""
    if wheel.stat().st_size <= limit:
        return [wheel]
    parts = []
    with wheel.open("rb") as file:
        while data := file.read(limit):
            part = wheel.with_name(f"{wheel.name}.part-{len(parts) + 1:03}")
            part.write_bytes(data)
            parts.append(part)
    wheel.unlink()
    return parts


def _fill(parts: list[Path], limit: int) -> list[list[Path]]:
    """First fit, largest first: few pieces, none above the limit."""
    bins: list[list[Path]] = []
    room: list[int] = []
    for part in parts:
        size = part.stat().st_size
        at = next((index for index, free in enumerate(room) if size <= free), None)
        if at is None:
            bins.append([])
            room.append(limit)
            at = len(bins) - 1
        bins[at].append(part)
        room[at] -= size
    return bins


def _digest(part: Path) -> str:
    return hashlib.sha256(part.read_bytes()).hexdigest()
