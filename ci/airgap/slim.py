"""Slim a kernel wheel to one GPU architecture: every Python file, and of the libraries only that architecture's."""

from __future__ import annotations

import zipfile
from pathlib import Path

KERNEL_WHEELS = ("sglang_kernel", "sgl_kernel")


def slim(wheel: Path, arch: str | None) -> list[dict[str, object]]:
    """Rewrite a kernel wheel in place; what was dropped, empty for other wheels or without `arch`.

    Kept of the shared libraries is `<arch>/…` alone (`sm90/common_ops.abi3.so`); the Triton backend needs no other.
    """
    if arch is None or not wheel.name.startswith(KERNEL_WHEELS):
        return []
    smaller = wheel.with_suffix(".slim")
    dropped = 0
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(smaller, "w", zipfile.ZIP_DEFLATED) as new:
        gone = {info.filename for info in old.infolist() if _dropped(info.filename, arch)}
        for info in old.infolist():
            data = old.read(info)
            if info.filename in gone:
                dropped += len(data)
                continue
            if info.filename.endswith(".dist-info/RECORD"):
                lines = data.decode().splitlines(keepends=True)
                data = "".join(line for line in lines if line.split(",")[0] not in gone).encode()
            new.writestr(info, data)
    smaller.replace(wheel)
    return [{"wheel": wheel.name, "arch": arch, "dropped_files": len(gone), "dropped_bytes": dropped}]


def _dropped(name: str, arch: str) -> bool:
    return name.endswith(".so") and f"/{arch}/" not in name
